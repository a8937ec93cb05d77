import { defined, isLong, nameToResolve, type TaskNode } from "@nova/workflow";
import type { Position } from "../chain/position.ts";
import type { Turn } from "../ports/chain.ts";
import type { CredentialOverlay } from "../ports/credentials.ts";
import type { Ports } from "../ports/index.ts";
import type { Sandbox } from "../ports/sandboxes.ts";
import {
  type ChosenSandbox,
  chooseSandbox,
  createReplacement,
  knownSandbox,
  moveSandboxes,
  releaseLost,
} from "../sandboxes/life.ts";
import { wantedSandbox } from "../sandboxes/spec.ts";
import type { Task } from "./task-input.ts";

/** After this many attempts of one link no other sandbox follows a lost one. */
const maxAttempts = 3;

/** One attempt of a node, as a delivery takes part in it. */
export interface Attempt {
  turn: Turn;
  /** Null where no code runs, or where only the id is known: another delivery chose it, so the next node makes its own. */
  sandbox: Sandbox | null;
  /** The state of the sandbox until the turn is written. */
  state: ChosenSandbox["state"];
  /** Resolves to true once this delivery holds the turn. */
  turnWritten: Promise<boolean>;
}

/** The facts that a new turn of a node with a sandbox depends on. */
export interface SandboxNeeds extends Pick<Turn, "generation" | "addresses"> {
  /** The longest time that the node may need its sandbox; absent: as its definition says. */
  seconds?: number;
}

/**
 * Takes part in the attempt that is under way: every delivery attaches to the code in the sandbox that the held turn names.
 * Otherwise chooses a sandbox for the next attempt, and writes its turn while the caller uploads the input. `findNeeds` is
 * asked only for a new turn; absent: the node runs no code, and its turn names no sandbox.
 */
export async function openAttempt(
  ports: Ports,
  { position, node, version, retries = 0 }: Task,
  findNeeds?: () => Promise<SandboxNeeds>,
): Promise<Attempt> {
  const { before, at, next } = position;
  const { turn: from } = next;
  // A turn between two attempts names no sandbox: the next attempt starts with this delivery.
  if (from && (findNeeds ? from.sandbox !== null : from.due === undefined)) {
    const sandbox = findNeeds && !isLong(node) ? knownSandbox(from, before.warm) : null;
    return { turn: from, sandbox, state: "in use", turnWritten: Promise.resolve(true) };
  }
  const needs = await findNeeds?.();
  const chosen = needs && (await chooseSandbox(ports, position, wantedSandbox(position, node, version, needs.seconds)));
  const turn: Turn = {
    node: node.id,
    state: "held",
    sandbox: chosen?.sandbox.id ?? null,
    attempt: (from?.attempt ?? 0) + 1,
    since: new Date(ports.clock.now()).toISOString(),
    ...defined({
      generation: needs?.generation,
      kept: from?.kept,
      failedDeliveries: from ? from.failedDeliveries : retries || undefined,
      addresses: needs?.addresses,
      warm: chosen?.sandbox.pool && chosen.sandbox,
      spare: chosen?.spare ?? from?.spare,
    }),
  };
  const turnWritten =
    from && chosen ? continueTurn(ports, position, turn, from) : ports.chain.putTurn(at, turn, from ?? null);
  // Avoids an unhandled rejection; awaiters still see it.
  turnWritten.catch(() => undefined);
  return { turn, sandbox: chosen?.sandbox ?? null, state: chosen?.state ?? "in use", turnWritten };
}

/** False also if the attempt before was committed meanwhile: no other delivery would kill this sandbox. */
async function continueTurn({ chain }: Ports, { at }: Position, turn: Turn, from: Turn): Promise<boolean> {
  return (await chain.putTurn(at, turn, from)) && (await chain.read(at)).entry === undefined;
}

/** With `effects: false` the code may start again in another sandbox. */
export function canChangeSandbox({ effects }: TaskNode, { attempt }: Turn): boolean {
  return effects === false && attempt < maxAttempts;
}

/** Moves the turn to the next attempt, in a new sandbox. The budget of a prompt node continues. */
export async function changeSandbox(ports: Ports, { position, node, version }: Task, from: Turn): Promise<void> {
  const { id } = await createReplacement(ports, position, node, version);
  const since = node.executor.kind === "prompt" ? from.since : new Date(ports.clock.now()).toISOString();
  const { warm: _, ...rest } = from;
  const turn: Turn = { ...rest, sandbox: id, attempt: from.attempt + 1, since };
  const isOurs = await ports.chain.putTurn(position.at, turn, from);
  if (!isOurs) return releaseLost(ports, position.at, { sandbox: id, state: "created" });
  if (isLong(node) && from.sandbox !== null) await moveSandboxes(ports, "in use", "turn left", [from.sandbox]);
}

/** The hosts that a node's code can connect to. Undefined: all that its sandbox can reach. */
export function allowedFor(
  { node, position: { before } }: Pick<Task, "node" | "position">,
  { hosts }: CredentialOverlay,
): string[] | undefined {
  const allow = node.executor.kind === "text" ? undefined : node.executor.allow;
  return before.sealed ? [] : allow && [...new Set([...allow, ...hosts])];
}

/** Resolves names on ports other than 80 and 443. The turn keeps the addresses, so every delivery uses the same. */
export async function addressesFor(
  { hostNames }: Pick<Ports, "hostNames">,
  allow: readonly string[] | undefined,
): Promise<Pick<Turn, "addresses">> {
  const names = new Set((allow ?? []).flatMap((entry) => nameToResolve(entry) ?? []));
  if (names.size === 0) return {};
  const found = [...names].map(async (name) => [name, await hostNames.addressesOf(name)] as const);
  return { addresses: Object.fromEntries(await Promise.all(found)) };
}
