import type { Json } from "../json.ts";
import type { EndedChild } from "./asl/host.ts";
import type { Executions } from "./store/executions.ts";

/** How an execution ended, for the one that started it; undefined while it runs. */
export function endOfChild(executions: Executions, arn: string): Json | undefined {
  const child = executions.get(arn);
  if (!child || child.status === "RUNNING" || child.stoppedAt === undefined) return undefined;
  const events = executions.history(child);
  const last = events.at(-1);
  const output = last?.executionSucceededEventDetails?.output;
  const { error, cause } =
    last?.executionFailedEventDetails ??
    last?.executionAbortedEventDetails ??
    last?.executionTimedOutEventDetails ??
    {};
  const end: EndedChild = {
    executionArn: child.arn,
    stateMachineArn: child.machineArn,
    name: child.name,
    status: child.status,
    startedAtMs: child.startedAt,
    stoppedAtMs: child.stoppedAt,
    input: events[0]?.executionStartedEventDetails?.input ?? "{}",
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
    ...(cause === undefined ? {} : { cause }),
  };
  return { ...end };
}
