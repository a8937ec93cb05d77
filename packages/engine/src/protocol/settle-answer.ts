import { type Head, headOf } from "../chain/head.ts";
import { failureOf } from "../chain/position.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { closed } from "./answer.ts";
import { continuationAnswer } from "./continuation.ts";
import type { CaughtError, Continuation, RunPosition } from "./event.ts";
import { type ItemsAnswer, itemsAnswer, type MapEvent } from "./items-answer.ts";

/** What the Choice behind a settle or a join is told. */
export interface SettleAnswer extends RunPosition {
  /** False: the chain says success, whatever Step Functions saw; the run goes on along the node's own edge. */
  failed: boolean;
  decision?: string;
  continuation?: Continuation;
  /** Exactly where it failed: what the Fail of a branch says. */
  error?: CaughtError;
  /** Of a map that succeeded after all, what its task would have answered. */
  count?: ItemsAnswer["count"];
  distributed?: ItemsAnswer["distributed"];
}

/** Of the entry that is in the chain now. Throws `ExecutionClosed`. */
export async function settleAnswer(
  ports: Pick<Ports, "blobs" | "workflows">,
  { execution, scope, ...event }: RunPosition & Pick<MapEvent, "inline_items">,
  entry: StoredEntry,
): Promise<SettleAnswer> {
  const head = headOf(entry);
  if (head.node_type === "close") throw closed(execution.id);
  const failed = head.status === "failed";
  return {
    execution,
    scope,
    seq: head.seq,
    failed,
    ...(head.decision_result !== null && { decision: head.decision_result }),
    ...(await continuationAnswer(ports, head, { execution })),
    ...(failed && { error: await caughtError(ports, head, entry) }),
    ...(await itemsAnswer(ports, head, event)),
  };
}

async function caughtError(ports: Pick<Ports, "blobs">, head: Head, entry: StoredEntry): Promise<CaughtError> {
  const { message, node } = await failureOf(entry, ports.blobs);
  const cause = node === undefined ? `node "${head.node_id}": ${message}` : message;
  return { Error: head.error_class ?? "NodeFailed", Cause: cause };
}
