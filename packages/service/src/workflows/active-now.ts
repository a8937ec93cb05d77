import type { WorkflowVersion } from "@nova/engine";
import type { ServicePorts } from "../ports/index.ts";
import type { Standing } from "../ports/workflow-states.ts";

export interface ActiveNow {
  state: Standing;
  /** Those that they used before, oldest first. */
  before: readonly number[];
  /** What new runs use; undefined where there is nothing, or it was deleted. */
  version: WorkflowVersion | undefined;
}

export async function activeNow(
  { workflows, workflowStates }: Pick<ServicePorts, "workflows" | "workflowStates">,
  workflowId: string,
): Promise<ActiveNow> {
  const { active, deleted, touched, before = [] } = (await workflowStates.get(workflowId)) ?? {};
  const state = {
    ...(active !== undefined && { active }),
    ...(deleted !== undefined && { deleted }),
    ...(touched && { touched }),
  };
  const version = active === undefined ? await workflows.latest(workflowId) : await workflows.get(workflowId, active);
  return { state, before, version: version && version.version > (deleted ?? 0) ? version : undefined };
}
