import type { WorkflowVersion } from "@nova/engine";
import { Conflict } from "../errors.ts";
import type { ServicePorts } from "../ports/index.ts";

/**
 * Before an old version is pinned, activated or named: whether its state machine version is still there. Throws
 * `Conflict`.
 */
export async function demandMachine(
  { machineVersions }: Pick<ServicePorts, "machineVersions">,
  { workflowId, version, stateMachineArn }: WorkflowVersion,
): Promise<void> {
  if ((await machineVersions.list(stateMachineArn)).includes(stateMachineArn)) return;
  throw new Conflict(
    `version ${version} of "${workflowId}" is too old: its state machine was cleared away - publish its definition again`,
  );
}
