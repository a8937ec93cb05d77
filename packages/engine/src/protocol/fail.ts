import { closeExecution } from "./close.ts";
import { stopFurther, stopMachine } from "./continuation.ts";
import type { CaughtError, Continuation, RunPosition } from "./event.ts";
import type { Closed } from "./finish-close.ts";
import { type KindPorts, reasonOf } from "./settling.ts";
import { executionOf } from "./status.ts";
import { closeAfter, hasEnded, sweepExecution } from "./sweep.ts";

/** Input of the last task of a run that fails; `continuation` where it was a further execution that failed. */
export type FailEvent = RunPosition & { error?: CaughtError; continuation?: Continuation };

/** Closes a run whose task failed for good. Answers the error that the chain says. */
export async function failExecution(
  ports: KindPorts,
  { execution, seq, error, continuation }: FailEvent,
): Promise<{ error: CaughtError }> {
  const caught = error ?? { Error: "ChainBroken", Cause: "a decision led to no edge" };
  if (continuation) await closeBehind(ports, execution.id, continuation);
  const closed = await closeExecution(ports, {
    execution: execution.id,
    status: "failed",
    reason: reasonOf(caught),
    seq,
  });
  if (!closed.error) return { error: { Error: "ExecutionClosed", Cause: `the execution was ${closed.status} before` } };
  return { error: { Error: closed.error.class, Cause: `node "${closed.error.node}": ${closed.error.message}` } };
}

/** A further execution that ended without a close closes the run as it ended; one that is given up must not go on. */
async function closeBehind(ports: KindPorts, id: string, { arn, name, number }: Continuation): Promise<void> {
  const run = await ports.stateMachines.describe(arn, name);
  const cause = "Step Functions does not wait for it any more.";
  await stopFurther(ports, { id, stateMachineArn: arn }, cause, number);
  if (run && hasEnded(run)) await closeAfter(ports, id, run);
}

/** Closes the run whose state machine's execution ended. A further execution bears no run's name. */
export async function executionEnded(ports: KindPorts, id: string): Promise<void> {
  const record = await ports.executions.get(id);
  if (record?.open) await sweepExecution(ports, record);
}

/** No node ran, so none was cut off. */
const unbegun = { class: "ExecutionClosed", message: "the execution was cancelled while it was queued" } as const;

/** Stops the state machine, then closes the chain, or answers how it ended. Throws `ExecutionNotFound`. */
export async function cancelExecution(ports: KindPorts, id: string): Promise<Closed> {
  const record = await executionOf(ports, id);
  if (record.open) await stopMachine(ports, record, "The execution was cancelled.");
  return closeExecution(ports, {
    execution: id,
    status: "cancelled",
    ...(record.status === "queued" && { reason: unbegun }),
  });
}
