import { defined } from "@nova/workflow";
import { headOf } from "../chain/entry.ts";
import { latestPosition, type Position, readPosition } from "../chain/position.ts";
import { chainBroken, NovaError } from "../errors.ts";
import type { EntryId, StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { killStaleSandbox } from "../sandboxes/life.ts";
import { branchState, hasBegun, type OpenFork, opensFork, readTip } from "./branches.ts";
import { commitOutcome } from "./commit.ts";
import { definitionOf, type KindPorts, type Reason, runOf, type SettlingPorts } from "./definition.ts";
import type { NodeEvent, RunPosition } from "./event.ts";
import { findRecordedOutcome } from "./recorded.ts";

export function entryIdAfter({ execution, scope, seq }: RunPosition): EntryId {
  return { execution: execution.id, scope, seq: seq + 1 };
}

export function closedError(execution: string): NovaError {
  return new NovaError("ExecutionClosed", `execution ${execution} is closed; its chain says how it ended`);
}

/**
 * Returns the entry of the node of this delivery, if it is committed. Throws `ExecutionClosed` for a close entry, and
 * `ChainBroken` for the entry of another node.
 */
function committedEntry({ next: { entry }, at }: Position, { node }: NodeEvent): StoredEntry | undefined {
  if (!entry) return undefined;
  const { node_id, node_type } = headOf(entry);
  if (node_type === "close") throw closedError(at.execution);
  if (node_id === node) return entry;
  throw chainBroken(`link ${at.seq} of ${at.execution} belongs to node "${node_id}", not to "${node}"`);
}

/**
 * Throws if the node may not start, because another delivery settles it or closes the run, or because another node has
 * the turn.
 */
function refuseForeignTurn({ at, next: { turn } }: Position, node: string): void {
  if (!turn) return;
  if (turn.state !== "held") throw closedError(at.execution);
  if (turn.node !== node) {
    throw chainBroken(`the turn at link ${at.seq} of ${at.execution} is held by "${turn.node}", not by "${node}"`);
  }
}

/**
 * Takes the turn of a node that runs no code. Returns null if the turn changed meanwhile; the caller then reads the
 * chain again. Throws `ExecutionClosed` if the turn is no longer held, and `ChainBroken` if another node holds it.
 */
export async function holdTurn(ports: Ports, position: Position, node: string): Promise<Turn | null> {
  refuseForeignTurn(position, node);
  return position.next.turn ?? putState(ports, position.at, undefined, node, "held");
}

/**
 * Moves a turn to a state, or takes a new turn in that state. Returns null if the turn changed meanwhile; the caller
 * then reads the chain again.
 */
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

/** The entry of a node that waits, or the turn with which this delivery may produce the entry. */
type AcquiredTurn = { entry: StoredEntry } | { entry?: never; position: Position; turn: Turn };

/**
 * Returns the entry of a node that waits. If the node has no entry yet, takes its turn. Throws `ExecutionClosed` if the
 * run is closed or another delivery settles the node, and `ChainBroken` if the entry or the turn is that of another
 * node.
 */
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

/**
 * Commits the recorded outcome of a node, if the document has one. This function first takes the turn, because a branch
 * that another process closes meanwhile must get no further entry.
 */
async function commitRecordedOutcome(ports: KindPorts, position: Position, event: NodeEvent) {
  // An execution without a document has no `visits` and no recorded outcomes.
  if (position.before.visits === undefined) return undefined;
  const definition = await definitionOf(ports, event);
  const outcome = await findRecordedOutcome(ports, position, definition);
  if (!outcome) return undefined;
  if (!(await holdTurn(ports, position, event.node))) return "again";
  return commitOutcome(ports, position, definition.node, outcome);
}

/**
 * Commits the outcomes that a branch still reuses, node after node, after Step Functions has stopped the branch. Chance
 * decides which branches Step Functions stops. But a restart must join the same failures as the run that it restarts.
 */
export async function commitRestOfBranch(ports: KindPorts, open: OpenFork, scope: string): Promise<void> {
  for (;;) {
    const tip = await readTip(ports, open.head.execution_id, scope, open.entry);
    const { path_taken: node } = tip.head;
    if (node === null || branchState(open, tip) !== "under way" || (hasBegun(tip) && opensFork(tip.head))) return;
    if (tip.turn && tip.turn.state !== "held") return;
    const next = { seq: tip.next.seq, ...defined({ turn: tip.turn }) };
    const position: Position = { before: tip.head, beforeEntry: tip.entry, at: tip.next, next };
    const event = { execution: runOf(tip.head), scope, seq: tip.next.seq - 1, node };
    if (!(await commitRecordedOutcome(ports, position, event))) return;
  }
}

/**
 * Returns the committed entry of a node. If there is none, returns the result of `produce`: an entry, or a turn that a
 * later delivery continues. `produce` returns `"again"` if another delivery was faster; this function then reads the
 * chain again.
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

/**
 * Settles a node and returns its entry: the existing entry, or the entry that `settle` writes for the turn in state
 * `failing`.
 */
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

/**
 * Writes the entry for the turn of a node: the result of its code if the code had finished, otherwise a failed entry
 * for `reason`. The kind of the node decides the details.
 */
export async function settleNodeEntry(ports: SettlingPorts, event: NodeEvent, reason: Reason): Promise<StoredEntry> {
  const definition = await definitionOf(ports, event);
  return settleEntry(ports, event, async (position, turn) => {
    const outcome = await findRecordedOutcome(ports, position, definition);
    if (outcome) return commitOutcome(ports, position, definition.node, outcome);
    return ports.settleTurn(ports, { ...definition, position, turn }, reason);
  });
}
