import { type Finding, finding, type Workflow } from "@nova/workflow";
import { reaches } from "../access/authenticate.ts";
import type { Principal } from "../ports/access.ts";
import { defaultClient } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";
import { canSeeTrigger } from "../workflows/show.ts";
import { triggerKey } from "./key.ts";

/** Warns of each trigger whose client does not exist, is being deleted, or is out of the caller's reach: in the same words. */
export async function findClientProblems(
  { clients }: Pick<ServicePorts, "clients">,
  by: Principal | null,
  { triggers = [] }: Pick<Workflow, "triggers">,
): Promise<Finding[]> {
  const findings = await Promise.all(
    triggers.map(async ({ client = defaultClient }, index) => {
      if (client === defaultClient) return [];
      const there = by === null || reaches(by, client) ? await clients.get(client) : undefined;
      if (there && !there.erasing) return [];
      const message = `there is no client "${client}", so nothing will start for it - make the client, or correct the slug`;
      return [finding("NOVA128", `$.triggers[${index}].client`, message)];
    }),
  );
  return findings.flat();
}

/** A finding for each address or hook that another workflow has, if the caller may see that trigger. */
export async function findTriggerConflicts(
  { triggers }: Pick<ServicePorts, "triggers">,
  by: Principal | null,
  { id, triggers: wanted = [] }: Pick<Workflow, "id" | "triggers">,
): Promise<Finding[]> {
  const findings = await Promise.all(
    wanted.map(async (trigger, index) => {
      const live = await triggers.get(triggerKey(id, trigger));
      if (!live || live.workflowId === id || !canSeeTrigger(by, live.trigger)) return [];
      const [what, other] =
        trigger.type === "mail" ? [`mail address "${trigger.address}"`, "address"] : [`webhook "${trigger.id}"`, "id"];
      const has = `workflow "${live.workflowId}" has the ${what}`;
      const message = `${has} - choose another ${other}, or DELETE /workflows/${live.workflowId}`;
      return [finding("NOVA127", `$.triggers[${index}]`, message)];
    }),
  );
  return findings.flat();
}
