import { type Finding, finding, type Workflow } from "@nova/workflow";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import { seesTrigger } from "../workflows/seen-by.ts";
import { triggerKey } from "./key.ts";

/** A finding for each address or hook that another workflow has, as far as whoever asks sees the trigger that has it. */
export async function takenTriggers(
  { triggers }: Pick<ServicePorts, "triggers">,
  by: Principal | null,
  { id, triggers: wanted = [] }: Pick<Workflow, "id" | "triggers">,
): Promise<Finding[]> {
  const findings = await Promise.all(
    wanted.map(async (trigger, index) => {
      const live = await triggers.get(triggerKey(id, trigger));
      if (!live || live.workflowId === id || !seesTrigger(by, live.trigger)) return [];
      const [what, other] =
        trigger.type === "mail" ? [`mail address "${trigger.address}"`, "address"] : [`webhook "${trigger.id}"`, "id"];
      const has = `workflow "${live.workflowId}" has the ${what}`;
      const message = `${has} - choose another ${other}, or DELETE /workflows/${live.workflowId}`;
      return [finding("NOVA127", `$.triggers[${index}]`, message)];
    }),
  );
  return findings.flat();
}
