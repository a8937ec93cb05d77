import { headOf } from "../chain/entry.ts";
import { latestPosition, type Position, readPosition } from "../chain/position.ts";
import { chainBroken, NovaError } from "../errors.ts";
import type { EntryId, StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { killStaleSandbox } from "../sandboxes/life.ts";
import { commitOutcome } from "./commit.ts";
import { definitionOf, type KindPorts, type Reason, type SettlingPorts } from "./definition.ts";
import type { NodeEvent, RunPosition } from "./event.ts";
import { findRecordedOutcome } from "./recorded.ts";

export function entryIdAfter({ execution, scope, seq }: RunPosition): EntryId {
  return { execution: execution.id, scope, seq: seq + 1 };
}

export function closedError(execution: string): NovaError {
  return new NovaError("ExecutionClosed", `execution ${execution} is closed; its chain says how it ended`);
}

/**
 * The committed entry of this delivery's node. Throws `ExecutionClosed` for a close, `ChainBroken` for another node's.
 */
function committedEntry({ next: { entry }, at }: Position, { node }: NodeEvent): StoredEntry | undefined {
  if (!entry) return undefined;
  const { node_id, node_type } = headOf(entry);
  if (node_type === "close") throw closedError(at.execution);
  if (node_id === node) return entry;
  throw chainBroken(`link ${at.seq} of ${at.execution} belongs to node "${node_id}", not to "${node}"`);
}

/** Throws if nothing may start at the link: another delivery is failing or closing it, or another node has its turn. */
function refuseForeignTurn({ at, next: { turn } }: Position, node: string): void {
  if (!turn) return;
  if (turn.state !== "held") throw closedError(at.execution);
  if (turn.node !== node) {
    throw chainBroken(`the turn at link ${at.seq} of ${at.execution} is held by "${turn.node}", not by "${node}"`);
  }
}

/** Takes the turn of a node without code. Null: it changed, read again. Throws `ExecutionClosed`, `ChainBroken`. */
export async function holdTurn(ports: Ports, position: Position, node: string): Promise<Turn | null> {
  refuseForeignTurn(position, node);
  return position.next.turn ?? putState(ports, position.at, undefined, node, "held");
}

/** Moves the turn at a link to a state, or takes a new one in that state. Null if it changed meanwhile: read again. */
export async function putState(
  { chain, clock }: Ports,
  at: EntryId,
  turn: Turn | undefined,
  node: string,
  state: Turn["state"],
): Promise<Turn | null> {
  const since = new Date(clock.now()).toISOString();
  const moved: Turn = turn ? { ...turn, state } : { node, state, sandbox: null, attempt: 1, since };
  return (await chain.putTurn(at, moved, turn ?? null)) ? moved : null;
}

/** The outcome at the link of a node that waits, or the right to produce it. */
type AcquiredTurn = { entry: StoredEntry } | { entry?: never; position: Position; turn: Turn };

/** Reads the link of a node that waits, and takes its turn if there is no entry. Throws `ExecutionClosed`, `ChainBroken`. */
export async function acquireTurn(ports: KindPorts, event: NodeEvent): Promise<AcquiredTurn> {
  for (;;) {
    const position = await readPosition(ports, entryIdAfter(event));
    const entry = committedEntry(position, event) ?? (await commitRecordedOutcome(ports, position, event));
    if (entry === "again") continue;
    if (entry) return { entry };
    const turn = await holdTurn(ports, position, event.node);
    if (turn) return { position, turn };
  }
}

/** Commits a recorded outcome, if there is one. It takes the turn first: no entry may follow in a closed branch. */
async function commitRecordedOutcome(
  ports: KindPorts,
  position: Position,
  event: NodeEvent,
): Promise<StoredEntry | "again" | undefined> {
  // Executions without a document count no visits.
  if (position.before.visits === undefined) return undefined;
  const definition = await definitionOf(ports, event);
  const outcome = await findRecordedOutcome(ports, position, definition);
  if (!outcome) return undefined;
  if (!(await holdTurn(ports, position, event.node))) return "again";
  return commitOutcome(ports, position, definition.node, outcome);
}

/**
 * The entry of a node: a committed one, else the result of `produce`, which may be a turn that a later delivery
 * continues. `"again"`: another delivery was faster, and the chain is read again.
 */
export async function runUntilCommitted<Left extends StoredEntry | Turn>(
  ports: KindPorts,
  event: NodeEvent,
  produce: (position: Position) => Promise<Left | "again">,
): Promise<Left | StoredEntry> {
  for (;;) {
    const position = await latestPosition(ports, entryIdAfter(event));
    const committed = committedEntry(position, event);
    if (committed) {
      await killStaleSandbox(ports, position.next);
      return committed;
    }
    refuseForeignTurn(position, event.node);
    const result = (await commitRecordedOutcome(ports, position, event)) ?? (await produce(position));
    if (result !== "again") return result;
  }
}

/** The entry at a link after it is settled: the one that is there, or the one that `settle` makes of the failing turn. */
export async function settleEntry(
  ports: Ports,
  event: NodeEvent,
  settle: (position: Position, failing: Turn) => Promise<StoredEntry>,
): Promise<StoredEntry> {
  for (;;) {
    const position = await readPosition(ports, entryIdAfter(event));
    const entry = committedEntry(position, event);
    if (entry) {
      await killStaleSandbox(ports, position.next);
      return entry;
    }
    const { turn } = position.next;
    if (turn?.state === "closed") throw closedError(event.execution.id);
    const failing = turn?.state === "failing" ? turn : await putState(ports, position.at, turn, event.node, "failing");
    if (failing) return settle(position, failing);
  }
}

/** Settles the link of a node as its kind does: with the result that its claim keeps, or a failed entry for `reason`. */
export async function settleNodeEntry(ports: SettlingPorts, event: NodeEvent, reason: Reason): Promise<StoredEntry> {
  const definition = await definitionOf(ports, event);
  return settleEntry(ports, event, async (position, turn) => {
    const outcome = await findRecordedOutcome(ports, position, definition);
    if (outcome) return commitOutcome(ports, position, definition.node, outcome);
    return ports.settleTurn(ports, { ...definition, position, turn }, reason);
  });
}
