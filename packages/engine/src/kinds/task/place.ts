import { defined, isLong, type TaskNode } from "@nova/workflow";
import type { Position } from "../../chain/position.ts";
import { chainBroken } from "../../errors.ts";
import type { Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { Sandbox } from "../../ports/sandboxes.ts";
import { chooseSandbox, sandboxSpec } from "./sandbox-choice.ts";
import type { Task } from "./task.ts";

/** Attempts of one link until which another one follows a lost sandbox. */
const maxAttempts = 3;

/** A turn, the sandbox that it names, and whether it is ours. */
export interface Place {
  turn: Turn;
  /** Null where only the id is known: another delivery made it, so the next node makes its own. */
  sandbox: Sandbox | null;
  created: boolean;
  /** True once the turn is ours. */
  turnWritten: Promise<boolean>;
}

/** A held turn: whoever holds it, its code runs in the sandbox it names, and this delivery attaches. */
export function adoptTurn(turn: Turn, { node, position: { before, at } }: Task): Place {
  if (turn.sandbox === null) throw chainBroken(`the turn at link ${at.seq} of ${at.execution} names no sandbox`);
  const sandbox = isLong(node) ? null : knownSandbox(turn, before.warm);
  return { turn, sandbox, created: false, turnWritten: Promise.resolve(true) };
}

/**
 * The sandbox of a turn. How long one lives that dies with its execution is known to the delivery that chose it, unless
 * the scope had it before; then the scope's next node makes its own.
 */
export function knownSandbox(turn: Turn, warm: Sandbox | null): Sandbox | null {
  if (turn.sandbox === null) return turn.warm ?? null;
  return [turn.warm, warm].find((one) => one?.id === turn.sandbox) ?? null;
}

/** The first turn, or the next attempt's. `more.seconds`: how long the node may need its sandbox. */
export async function takeTurn(
  ports: Ports,
  { position, node, version, retries = 0 }: Task,
  more: { seconds?: number; generation?: string } & Pick<Turn, "addresses"> = {},
): Promise<Place> {
  const { seconds, generation, addresses } = more;
  const { turn: from } = position.next;
  const { sandbox, created, spare } = await chooseSandbox(ports, position, node, version, seconds);
  const attempt = (from?.attempt ?? 0) + 1;
  const failedDeliveries = from ? from.failedDeliveries : retries || undefined;
  const turn: Turn = {
    ...{ node: node.id, state: "held", sandbox: sandbox.id, attempt, since: isoNow(ports) },
    ...defined({ generation, kept: from?.kept, failedDeliveries, addresses, warm: sandbox.pool && sandbox }),
    ...defined({ spare: spare ?? from?.spare }),
  };
  const turnWritten = from ? continueTurn(ports, position, turn, from) : ports.chain.putTurn(position.at, turn, null);
  // Who needs it waits for it; until then its failure is nobody's.
  turnWritten.catch(() => undefined);
  return { turn, sandbox, created, turnWritten };
}

/** False as well where the attempt before was committed meanwhile: nobody else would kill this sandbox. */
async function continueTurn({ chain }: Ports, { at }: Position, turn: Turn, from: Turn): Promise<boolean> {
  return (await chain.putTurn(at, turn, from)) && (await chain.read(at)).entry === undefined;
}

/** Kills a sandbox unless the turn names it: a put that lost may be the SDK's repetition of one that won. */
export async function dropUnlessNamed(ports: Ports, { at }: Position, { sandbox }: Turn): Promise<void> {
  const { turn } = await ports.chain.read(at);
  if (sandbox !== null && turn?.sandbox !== sandbox) await ports.sandboxes.kill(sandbox);
}

/** The next attempt, in a new sandbox; the old one is of no use any more. A prompt node's budget goes on. */
export async function moveTurn(ports: Ports, { position, node, version }: Task, from: Turn): Promise<void> {
  const sandbox = await ports.sandboxes.create(sandboxSpec(position.at, node, version, position.before));
  const since = node.executor.kind === "prompt" ? from.since : isoNow(ports);
  const { warm: _, ...moved } = from;
  const turn: Turn = { ...moved, sandbox: sandbox.id, attempt: from.attempt + 1, since };
  if (!(await ports.chain.putTurn(position.at, turn, from))) return dropUnlessNamed(ports, position, turn);
  if (isLong(node) && from.sandbox !== null) await ports.sandboxes.kill(from.sandbox);
}

/** What the scope's next node may use again. */
export function warmOf({ node, position }: Task, { sandbox }: Place): Sandbox | null {
  return node.isolation === "fresh" ? position.before.warm : sandbox;
}

/** The same where the turn's sandbox is gone: one for this node alone was none of the scope's. */
export function warmWithout({ node, position }: Task): Sandbox | null {
  return node.isolation === "fresh" ? position.before.warm : null;
}

/** With `effects: false` another sandbox may begin the code again. */
export function canChangeSandbox({ effects }: TaskNode, { attempt }: Turn): boolean {
  return effects === false && attempt < maxAttempts;
}

/** Why a node fails whose sandbox is gone while its code may have begun. */
export function lostReason({ sandbox }: Turn) {
  const message = `the sandbox ${sandbox} was lost while the node's code may have been running - declare "effects": false if it may run again`;
  return { class: "NodeInterrupted", message } as const;
}

function isoNow(ports: Ports): string {
  return new Date(ports.clock.now()).toISOString();
}
