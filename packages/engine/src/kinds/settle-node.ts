import { type RunErrorClass, runErrors } from "@nova/workflow";
import { type Head, headOf } from "../chain/head.ts";
import { failureOf } from "../chain/position.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { closed } from "../protocol/answer.ts";
import { settlingPorts } from "../protocol/close.ts";
import { continuationAnswer } from "../protocol/continuation.ts";
import type { CaughtError, Continuation, RunPosition } from "../protocol/event.ts";
import { type ItemsAnswer, itemsAnswer, type MapEvent } from "../protocol/items-answer.ts";
import { settledEntry } from "../protocol/settled-entry.ts";
import type { Reason } from "../protocol/settling.ts";
import { expiredEntry } from "./waiting/expire.ts";

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

/** What is settled: a node whose task failed, or one that was asked for and not answered in time. */
export type SettleEvent = MapEvent & ({ error: CaughtError } | { expired: true });

/**
 * Behind a Catch: the chain, not Step Functions, says what happened to the node. Throws `ExecutionClosed`,
 * `ChainBroken`.
 */
export async function settleNode(ports: Ports, event: SettleEvent): Promise<SettleAnswer> {
  const settling =
    "expired" in event ? expiredEntry(ports, event) : settledEntry(settlingPorts(ports), event, reasonOf(event.error));
  return settleAnswer(ports, event, await settling);
}

/** What the Choice behind a settle or a join is told of the entry that is in the chain now. */
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

/** What a Catch handed on, as a reason: classes of our own as they are, the rest as an interruption that names it. */
export function reasonOf({ Error: name, Cause: cause }: CaughtError): Reason {
  const message = messageOf(cause);
  if (Object.hasOwn(runErrors, name)) return { class: name as RunErrorClass, message };
  if (name === "States.Timeout")
    return { class: "NodeTimeout", message: "Step Functions ended the task at its time limit" };
  return { class: "NodeInterrupted", message: `${name}: ${message}` };
}

/** The cause of a Lambda's error is JSON with `errorMessage`; of anything else it is text. */
function messageOf(cause: string): string {
  try {
    const parsed = JSON.parse(cause) as { errorMessage?: unknown } | null;
    if (typeof parsed?.errorMessage === "string") return parsed.errorMessage;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return cause;
}
