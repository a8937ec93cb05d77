import type { Workflow } from "@nova/workflow";
import type { Principal } from "../access/principal.ts";

/** A definition without what is another client's: who else starts it by which address, and who hears of failures. */
export function seenBy({ client }: Principal, workflow: Workflow): Workflow {
  if (client === null) return workflow;
  const { onFailure: _, triggers, ...shared } = workflow;
  const own = triggers?.filter((trigger) => trigger.client === client);
  return { ...shared, ...(own && own.length > 0 && { triggers: own }) };
}
