import type { Json } from "../json.ts";
import type { EndedChild } from "./asl/host.ts";
import { type HistoryEvent, inputAndEndOf } from "./history.ts";
import type { EndStatus, Execution, Executions } from "./store/executions.ts";

/**
 * The detail of EventBridge's event "Step Functions Execution Status Change". Its times are milliseconds since the
 * epoch.
 */
export type StatusChange = ReturnType<typeof statusChangeOf>;

/** Returns the status change of an ended execution. */
export function statusChangeOf(execution: Execution, events: readonly HistoryEvent[]) {
  const { input = "", output = null, error = null, cause = null } = inputAndEndOf(events);
  return {
    executionArn: execution.arn,
    stateMachineArn: execution.machineArn,
    stateMachineVersionArn: execution.versionArn ?? null,
    name: execution.name,
    status: execution.status as EndStatus,
    startDate: execution.startedAt,
    stopDate: execution.stoppedAt as number,
    input,
    inputDetails: { included: true },
    output,
    outputDetails: output === null ? null : { included: true },
    error,
    cause,
  };
}

/**
 * Calls the listener once and ignores its errors, because EventBridge promises no delivery either. A client that must
 * not miss an end calls DescribeExecution.
 */
export async function deliverStatusChange(
  change: StatusChange,
  onStatusChange: (change: StatusChange) => void | Promise<void>,
): Promise<void> {
  try {
    await onStatusChange(change);
  } catch (error) {
    process.emitWarning(`The status change of execution "${change.name}" was not taken: ${error}`);
  }
}

/** Returns the end of an execution (a child) for the execution that started it; undefined while the child runs. */
export function endOfChild(executions: Executions, arn: string): Json | undefined {
  const child = executions.get(arn);
  if (!child || child.status === "RUNNING" || child.stoppedAt === undefined) return undefined;
  const { input = "{}", ...end } = inputAndEndOf(executions.history(child));
  return {
    executionArn: child.arn,
    stateMachineArn: child.machineArn,
    name: child.name,
    status: child.status,
    startedAtMs: child.startedAt,
    stoppedAtMs: child.stoppedAt,
    input,
    ...end,
  } satisfies EndedChild as unknown as Json;
}
