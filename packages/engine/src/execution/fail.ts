import type { CaughtError, RunPosition } from "../node/event.ts";
import { reasonOf } from "../node/settle-node.ts";
import type { Ports } from "../ports/index.ts";
import { closeExecution } from "./close.ts";
import { sweepExecution } from "./sweep.ts";

/**
 * Closes a run whose task failed for good. Answers the error of the Fail state behind it: what the chain says, which
 * is not always what the Catch was handed.
 */
export async function failExecution(
  ports: Ports,
  { execution, seq, error }: RunPosition & { error?: CaughtError },
): Promise<{ error: CaughtError }> {
  const caught = error ?? { Error: "ChainBroken", Cause: "a decision led to no edge" };
  const closed = await closeExecution(ports, {
    execution: execution.id,
    status: "failed",
    reason: reasonOf(caught),
    seq,
  });
  if (!closed.error) return { error: { Error: "ExecutionClosed", Cause: `the execution was ${closed.status} before` } };
  return { error: { Error: closed.error.class, Cause: `node "${closed.error.node}": ${closed.error.message}` } };
}

/** A state machine's execution ended in whatever way: the run of the same name is closed if it is not yet. */
export async function executionEnded(ports: Ports, id: string): Promise<void> {
  const record = await ports.executions.get(id);
  if (record?.open) await sweepExecution(ports, record);
}
