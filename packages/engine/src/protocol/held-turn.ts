import { type Head, headOf } from "../chain/head.ts";
import { latestPosition, type Position, readPosition } from "../chain/position.ts";
import { chainBroken } from "../errors.ts";
import type { Link, LinkId, StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { Sandbox } from "../ports/sandboxes.ts";
import { closed, committedEntry } from "./answer.ts";
import { commitOutcome } from "./commit.ts";
import { definitionOf } from "./definition.ts";
import { linkAfter, type NodeEvent } from "./event.ts";
import { recordedOutcome, takesOver } from "./recorded.ts";
import type { KindPorts, Reason, SettlingPorts } from "./settling.ts";

/** Somebody is failing or closing this link, or the turn is another node's: nothing may begin. */
export function refuseForeignTurn({ at, next: { turn } }: Position, node: string): void {
  if (!turn) return;
  if (turn.state !== "held") throw closed(at.execution);
  if (turn.node !== node) {
    throw chainBroken(`the turn at link ${at.seq} of ${at.execution} is held by "${turn.node}", not by "${node}"`);
  }
}

/** The turn of a node without code. Null: it changed, read again. Throws `ExecutionClosed`, `ChainBroken`. */
export async function holdTurn(ports: Ports, position: Position, node: string): Promise<Turn | null> {
  refuseForeignTurn(position, node);
  return position.next.turn ?? putState(ports, position.at, undefined, node, "held");
}

/** Moves the turn at a link to a state, or takes a new one in that state. Null when it changed meanwhile: read again. */
export async function putState(
  { chain, clock }: Ports,
  at: LinkId,
  turn: Turn | undefined,
  node: string,
  state: Turn["state"],
): Promise<Turn | null> {
  const since = new Date(clock.now()).toISOString();
  const taken: Turn = turn ? { ...turn, state } : { node, state, sandbox: null, attempt: 1, since };
  return (await chain.putTurn(at, taken, turn ?? null)) ? taken : null;
}

/**
 * Between a result and its commit the sandbox may die and the turn (of a node with `effects: false`) move to another
 * one, where the code begins again; then the entry names one sandbox and the turn another. Whoever goes on from an
 * entry kills the one that nobody waits for. Nothing begins there later: a delivery that moved the turn reads again
 * before it runs.
 */
export async function killStaleSandbox(ports: Ports, { entry, turn }: Link): Promise<void> {
  if (!entry || !turn?.sandbox) return;
  if (headOf(entry).sandbox_id !== turn.sandbox) await ports.sandboxes.kill(turn.sandbox);
}

/** What a node that waits has at its link: the outcome, or the right to produce it. */
type AcquiredTurn = { entry: StoredEntry } | { entry?: never; position: Position; turn: Turn };

/** Reads the node's place, and takes the turn where there is neither. Throws `ExecutionClosed`, `ChainBroken`. */
export async function acquireTurn(ports: KindPorts, event: NodeEvent): Promise<AcquiredTurn> {
  for (;;) {
    const position = await readPosition(ports, linkAfter(event));
    const entry = committedEntry(position, event) ?? (await commitRecordedOutcome(ports, position, event));
    if (entry === "again") continue;
    if (entry) return { entry };
    const turn = await holdTurn(ports, position, event.node);
    if (turn) return { position, turn };
  }
}

/**
 * The entry of an outcome that is on record, where this execution takes it over. It holds the turn meanwhile,
 * because nothing may be written behind a branch that somebody has closed. `"again"`: it changed, read again.
 */
async function commitRecordedOutcome(
  ports: KindPorts,
  position: Position,
  event: NodeEvent,
): Promise<StoredEntry | "again" | undefined> {
  if (!takesOver(position.before)) return undefined;
  const definition = await definitionOf(ports, event);
  const outcome = await recordedOutcome(ports, position, definition);
  if (!outcome) return undefined;
  if (!(await holdTurn(ports, position, event.node))) return "again";
  return commitOutcome(ports, position, definition.node, outcome);
}

/**
 * The entry at a node's link: a committed one, and nothing runs; else what one pass of `produce` comes to, or the turn
 * that it leaves for later. `"again"` reads the chain anew: somebody else was faster.
 */
export async function runUntilCommitted<Left extends StoredEntry | Turn>(
  ports: KindPorts,
  event: NodeEvent,
  produce: (position: Position) => Promise<Left | "again">,
): Promise<Left | StoredEntry> {
  for (;;) {
    const position = await latestPosition(ports, linkAfter(event));
    const committed = committedEntry(position, event);
    if (!committed) refuseForeignTurn(position, event.node);
    const entry = committed ?? (await commitRecordedOutcome(ports, position, event)) ?? (await produce(position));
    await killStaleSandbox(ports, position.next);
    if (entry !== "again") return entry;
  }
}

/** The entry at a link once it is settled: there already, or what `settle` makes of the turn, which is failing by then. */
export async function settleLink(
  ports: Ports,
  event: NodeEvent,
  settle: (position: Position, failing: Turn) => Promise<StoredEntry>,
): Promise<StoredEntry> {
  for (;;) {
    const position = await readPosition(ports, linkAfter(event));
    const entry = committedEntry(position, event);
    await killStaleSandbox(ports, position.next);
    if (entry) return entry;
    const { turn } = position.next;
    if (turn?.state === "closed") throw closed(event.execution.id);
    const failing = turn?.state === "failing" ? turn : await putState(ports, position.at, turn, event.node, "failing");
    if (failing) return settle(position, failing);
  }
}

/** The same of a node, as its kind settles it: a kept result, or a failed entry for `reason`. */
export async function settleNodeLink(ports: SettlingPorts, event: NodeEvent, reason: Reason): Promise<StoredEntry> {
  const definition = await definitionOf(ports, event);
  return settleLink(ports, event, async (position, turn) => {
    const outcome = await recordedOutcome(ports, position, definition);
    if (outcome) return commitOutcome(ports, position, definition.node, outcome);
    return ports.settleTurn(ports, { ...definition, position, turn }, reason);
  });
}

/** The sandboxes of the scope do not wait with it: no code of the scope runs meanwhile, the next node makes a new one. */
export async function releaseSandboxes(
  ports: Ports,
  { warm, spare = [] }: Pick<Head, "warm" | "spare">,
): Promise<void> {
  await Promise.all((warm ? [warm, ...spare] : spare).map(({ id }) => ports.sandboxes.kill(id)));
}

/** The same sandbox, for the execution that has it and for none behind it. */
export function withoutPool<S extends Sandbox | null>(sandbox: S): S {
  return sandbox?.pool ? { ...sandbox, pool: { ...sandbox.pool, idleSeconds: 0 } } : sandbox;
}
