import type { WorkflowVersion } from "@nova/engine";
import type { ServicePorts } from "../ports/index.ts";
import { syncTriggers } from "../triggers/sync.ts";

/**
 * Makes the triggers of a version real that is to be what new runs use; unless a later one is that already. Throws
 * `Conflict` where one is another workflow's, `Refused` where the service behind it does not take it.
 */
export async function makeTriggersReal(ports: ServicePorts, { workflowId, version, workflow }: WorkflowVersion) {
  const { deleted = 0, active = 0 } = (await ports.workflowStates.get(workflowId)) ?? {};
  if (deleted < version && active > version) return;
  const before = active > deleted ? await ports.workflows.get(workflowId, active) : undefined;
  await syncTriggers(ports, workflowId, before?.workflow.triggers, workflow.triggers);
}

/**
 * Makes a version that is ready what new runs use, its triggers with it, unless a later one is active. What was deleted
 * before and is published again is there again. Whoever repeats it does nothing new. Throws as `makeTriggersReal`.
 */
export async function putForward(ports: ServicePorts, ready: WorkflowVersion): Promise<void> {
  const { workflowId, version } = ready;
  await makeTriggersReal(ports, ready);
  const { deleted = 0 } = (await ports.workflowStates.get(workflowId)) ?? {};
  if (deleted >= version) await ports.workflowStates.set(workflowId, { active: version, deleted: version - 1 });
  else await ports.workflowStates.advance(workflowId, version);
}
