import type { WorkflowVersion } from "@nova/engine";
import type { ServicePorts } from "../ports/index.ts";
import { syncTriggers } from "../triggers/sync.ts";

/**
 * Makes a version that is ready what new runs use, and its triggers real, unless a later one is active. What was
 * deleted before and is published again is there again. Whoever repeats it does nothing new. Throws `Conflict` where a
 * trigger is another workflow's.
 */
export async function putForward(ports: ServicePorts, ready: WorkflowVersion): Promise<void> {
  const { workflowId, version, workflow } = ready;
  const { deleted = 0, active = 0 } = (await ports.workflowStates.get(workflowId)) ?? {};
  const isBack = deleted >= version;
  if (!isBack && active > version) return;
  const before = active > deleted ? await ports.workflows.get(workflowId, active) : undefined;
  await syncTriggers(ports, workflowId, before?.workflow.triggers, workflow.triggers);
  if (isBack) await ports.workflowStates.set(workflowId, { active: version, deleted: version - 1 });
  else await ports.workflowStates.advance(workflowId, version);
}
