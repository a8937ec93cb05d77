import type { WorkflowVersion } from "@nova/engine";
import type { ServicePorts } from "../ports/index.ts";
import { putTriggers } from "../triggers/sync.ts";
import { moveActive } from "./move-active.ts";

/**
 * Makes the triggers of a version real that is to be what new runs use, beside those that are; unless a later one is
 * that already. Throws as `putTriggers`: `settleTriggers` takes back what was made by then.
 */
export async function makeTriggersReal(ports: ServicePorts, { workflowId, version, workflow }: WorkflowVersion) {
  const { deleted = 0, active = 0 } = (await ports.workflowStates.get(workflowId)) ?? {};
  if (deleted < version && active > version) return;
  await putTriggers(ports, workflowId, workflow.triggers);
}

/**
 * Makes a version that is ready what new runs use, its triggers with it, unless a later one is active. What was deleted
 * before and is published again is there again. Answers whether that changed anything: whoever repeats it does nothing
 * new. `staysBack`: what is there already and was not deleted is left as somebody activated it. Throws as `putTriggers`.
 */
export async function putForward(ports: ServicePorts, ready: WorkflowVersion, staysBack = false): Promise<boolean> {
  const { workflowId, version } = ready;
  let isNew = false;
  await moveActive(ports, workflowId, ready, ({ active = 0, deleted = 0 }) => {
    const isDeleted = deleted >= version;
    const isBehind = active > version || (staysBack && active > 0);
    isNew = isDeleted || (active < version && !isBehind);
    if (isDeleted) return { active: version, deleted: version - 1 };
    return isBehind ? undefined : { active: version };
  });
  return isNew;
}
