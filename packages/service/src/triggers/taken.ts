import { type Finding, finding, type Workflow } from "@nova/workflow";
import type { ServicePorts } from "../ports/index.ts";
import { triggerKey } from "./key.ts";

/** A finding for each address or hook that another workflow has. */
export async function takenTriggers(
  { triggers }: Pick<ServicePorts, "triggers">,
  { id, triggers: wanted = [] }: Pick<Workflow, "id" | "triggers">,
): Promise<Finding[]> {
  const findings = await Promise.all(
    wanted.map(async (trigger, index) => {
      const live = await triggers.get(triggerKey(id, trigger));
      if (!live || live.workflowId === id) return [];
      const what = trigger.type === "mail" ? `the mail address "${trigger.address}"` : `the webhook "${trigger.id}"`;
      const message = `workflow "${live.workflowId}" has ${what} - choose another one`;
      return [finding("NOVA127", `$.triggers[${index}]`, message)];
    }),
  );
  return findings.flat();
}
