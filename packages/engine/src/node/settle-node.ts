import { type RunErrorClass, runErrors } from "@nova/workflow";
import { type Head, headOf } from "../chain/head.ts";
import { failureOf, readPosition } from "../chain/position.ts";
import type { LinkId, StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { expiredEntry } from "../task/expire.ts";
import { closed, committedEntry, itemNumbers } from "./answer.ts";
import { definitionOf } from "./definition.ts";
import type { CaughtError, NodeEvent, RunPosition } from "./event.ts";
import { killOvertaken } from "./overtaken.ts";
import { type Reason, settleTurn } from "./settle-turn.ts";

export interface SettleAnswer extends RunPosition {
  /** False: the chain says success, whatever Step Functions saw; the run goes on along the node's own edge. */
  failed: boolean;
  decision?: string;
  /** Exactly where it failed: what the Fail of a branch says. */
  error?: CaughtError;
  /** Of a map that succeeded after all: its items. */
  count?: number;
  items?: number[];
}

/** What is settled: a node whose task failed, or one that was asked for and not answered in time. */
export type SettleEvent = NodeEvent & ({ error: CaughtError } | { expired: true });

/** Behind a Catch: the chain, not Step Functions, says what happened to the node. Throws `ExecutionClosed`, `ChainBroken`. */
export async function settleNode(ports: Ports, event: SettleEvent): Promise<SettleAnswer> {
  const settling = "expired" in event ? expiredEntry(ports, event) : settledEntry(ports, event, reasonOf(event.error));
  return settleAnswer(ports, event, await settling);
}

/** What the Choice behind a settle or a join is told of the entry that is in the chain now. */
export async function settleAnswer(
  ports: Pick<Ports, "blobs">,
  { execution, scope }: RunPosition,
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
    ...(failed && { error: await caughtError(ports, head, entry) }),
    ...itemNumbers(head),
  };
}

async function caughtError(ports: Pick<Ports, "blobs">, head: Head, entry: StoredEntry): Promise<CaughtError> {
  const { message, node } = await failureOf(entry, ports.blobs);
  const cause = node === undefined ? `node "${head.node_id}": ${message}` : message;
  return { Error: head.error_class ?? "NodeFailed", Cause: cause };
}

/** The entry at the node's link once it is settled: there already, a kept result, or a failed one for `reason`. */
export async function settledEntry(ports: Ports, event: NodeEvent, reason: Reason): Promise<StoredEntry> {
  const at: LinkId = { execution: event.execution.id, scope: event.scope, seq: event.seq + 1 };
  const definition = await definitionOf(ports, event);
  for (;;) {
    const position = await readPosition(ports, at);
    const entry = committedEntry(position, event);
    await killOvertaken(ports, position.next);
    if (entry) return entry;
    const { turn } = position.next;
    if (turn?.state === "closed") throw closed(at.execution);
    const failing = turn?.state === "failing" ? turn : await markFailing(ports, at, turn, event.node);
    if (failing) return settleTurn(ports, position, definition, failing, reason);
  }
}

/** Null when the turn changed meanwhile: read again. */
export async function markFailing(
  ports: Ports,
  at: LinkId,
  turn: Turn | undefined,
  node: string,
): Promise<Turn | null> {
  const since = new Date(ports.clock.now()).toISOString();
  const failing: Turn = turn
    ? { ...turn, state: "failing" }
    : { node, state: "failing", sandbox: null, attempt: 1, since };
  return (await ports.chain.putTurn(at, failing, turn ?? null)) ? failing : null;
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
