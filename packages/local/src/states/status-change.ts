import type { Outcome } from "./asl/execute.ts";
import type { Execution } from "./store/executions.ts";

/** The detail of EventBridge's "Step Functions Execution Status Change"; times in milliseconds since the epoch. */
export interface StatusChange {
  executionArn: string;
  stateMachineArn: string;
  stateMachineVersionArn: string | null;
  name: string;
  status: Outcome["status"];
  startDate: number;
  stopDate: number;
  input: string;
  inputDetails: { included: true };
  output: string | null;
  outputDetails: { included: true } | null;
  error: string | null;
  cause: string | null;
}

export function statusChangeOf(execution: Execution, outcome: Outcome, input: string): StatusChange {
  const succeeded = outcome.status === "SUCCEEDED";
  return {
    executionArn: execution.arn,
    stateMachineArn: execution.machineArn,
    stateMachineVersionArn: execution.versionArn ?? null,
    name: execution.name,
    status: outcome.status,
    startDate: execution.startedAt,
    stopDate: execution.stoppedAt as number,
    input,
    inputDetails: { included: true },
    output: succeeded ? outcome.output : null,
    outputDetails: succeeded ? { included: true } : null,
    error: succeeded ? null : (outcome.error ?? null),
    cause: succeeded ? null : (outcome.cause ?? null),
  };
}
