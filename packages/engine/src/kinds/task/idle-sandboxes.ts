import { defaultIdleSeconds, isLong, type TaskNode, type Workflow } from "@nova/workflow";
import type { Offer } from "../../ports/executions.ts";
import type { Ports } from "../../ports/index.ts";
import type { Sandbox, SandboxPool, SandboxSpec } from "../../ports/sandboxes.ts";
import { sha256 } from "../../sha256.ts";
import { tasksOf } from "./outer-reach.ts";

/** How many of the offers of its pool one node tries to take; the other branches of its fork try the same. */
const maxTries = 8;
/** What a workflow keeps warm is looked at once a minute, and may be late. */
export const keptSeconds = 240;
/** More than these idle ones of one client are ended, the oldest first. */
const maxIdlePerClient = 50;

/**
 * The pool whose sandboxes may run the code of this client: made from the same template, with the same modules, for
 * code that imports as little, and with the same way out. Undefined where the node's sandbox serves no other execution.
 */
export function poolOf(
  client: string,
  spec: SandboxSpec,
  node: TaskNode,
  { nodes, idleSeconds = defaultIdleSeconds, warm = 0 }: Workflow,
): SandboxPool | undefined {
  const keepsItsOwn = tasksOf(nodes).some(({ isolation }) => isolation === "execution");
  const seconds = warm > 0 ? Math.max(idleSeconds, keptSeconds) : idleSeconds;
  if (seconds === 0 || keepsItsOwn || node.isolation === "fresh" || isLong(node)) return undefined;
  const { template, lib, light = false, internet, reach } = spec;
  const surroundings = [client, template, Object.entries(lib).sort(), light, internet, reach ?? null];
  return { key: sha256(JSON.stringify(surroundings)), idleSeconds: seconds };
}

/**
 * A sandbox that an ended execution of the pool has left; nobody else has it now. Null where there is none. Whoever dies
 * behind this leaves it to die by its lifetime.
 */
export async function takeIdle(ports: Ports, client: string, { key }: SandboxPool): Promise<Sandbox | null> {
  const offers = (await ports.executions.idle(client)).filter((offer) => isAlive(offer, ports.clock.now()));
  if (offers.length > maxIdlePerClient) await endOldest(ports, offers);
  const fitting = offers.filter(({ idle }) => idle.pool?.key === key);
  for (let tries = 0; tries < maxTries && fitting.length > 0; tries++) {
    const [offer] = fitting.splice(Math.floor(Math.random() * fitting.length), 1);
    if (offer && (await ports.executions.takeIdle(offer))) return offer.idle;
  }
  return null;
}

/** Makes room where a plan has none: ends the sandboxes that have been idle for longest. False where there are none. */
export async function endOldestIdle(ports: Ports): Promise<boolean> {
  const offers = (await ports.executions.idle()).filter((offer) => isAlive(offer, ports.clock.now()));
  return endOldest(ports, offers);
}

async function endOldest(ports: Ports, offers: readonly Offer[]): Promise<boolean> {
  const [oldest] = offers.toSorted(byEnd);
  if (!oldest || !(await ports.executions.takeIdle(oldest))) return false;
  await ports.sandboxes.kill(oldest.idle.id);
  return true;
}

export function isAlive({ idle }: Offer, now: number): boolean {
  return Date.parse(idle.endsAt) > now;
}

export function byEnd(a: Offer, b: Offer): number {
  return a.idle.endsAt.localeCompare(b.idle.endsAt);
}
