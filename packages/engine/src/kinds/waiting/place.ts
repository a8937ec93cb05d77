import type { LinkId } from "../../ports/chain.ts";
import type { WaitingTask } from "../../ports/tasks.ts";
import type { RunPosition } from "../../protocol/event.ts";

/** Where a node stands that has been asked to run behind a link. */
export function linkBehind({ execution, scope, seq }: RunPosition): LinkId {
  return { execution: execution.id, scope, seq: seq + 1 };
}

/** The event with which Step Functions asked for this task. */
export function eventOf({ execution: id, workflowId, version, scope, seq, node }: WaitingTask) {
  return { execution: { id, workflowId, version }, scope, seq: seq - 1, node };
}
