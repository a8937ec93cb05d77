import type { Trigger, Workflow } from "@nova/workflow";
import type { Principal } from "../ports/access.ts";

/** A definition without what is another client's: who else starts it by which address, and who hears of failures. */
export function seenBy(by: Principal, workflow: Workflow): Workflow {
  if (by.client === null) return workflow;
  const { onFailure: _, triggers, ...shared } = workflow;
  const own = triggers?.filter((trigger) => seesTrigger(by, trigger));
  return { ...shared, ...(own && own.length > 0 && { triggers: own }) };
}

/** A trigger of no client is nobody's own: the key of one client does not see it. Null is whoever set NOVA up. */
export function seesTrigger(by: Principal | null, trigger: Trigger): boolean {
  return by === null || by.client === null || trigger.client === by.client;
}
