import type { Execution } from "@nova/engine";
import type { SlotStore, Ticket } from "../ports/quotas.ts";
import { admit, type QueuePorts, ticketOf } from "./admit.ts";
import { everybody, limitsOf } from "./pools.ts";

/** The tickets of several queues as one, each once, in their common order; no queue is read further than needed. */
export async function* inOrder(queues: readonly AsyncIterable<Ticket>[]): AsyncIterable<Ticket> {
  const readers = queues.map((queue) => queue[Symbol.asyncIterator]());
  const heads = await Promise.all(readers.map((reader) => reader.next()));
  for (;;) {
    const tickets = heads.flatMap(({ done, value }) => (done ? [] : [value as Ticket]));
    const [first, ...others] = tickets;
    if (!first) return;
    const next = others.reduce((a, b) => (orderOf(b) < orderOf(a) ? b : a), first);
    yield next;
    for (const [at, { done, value }] of heads.entries()) {
      if (!done && value.execution === next.execution) heads[at] = await (readers[at] as (typeof readers)[0]).next();
    }
  }
}

/** In every queue: ranked ones first. */
export function orderOf({ rank = "", execution }: Pick<Ticket, "rank" | "execution">): string {
  return rank + execution;
}

/** How often it is waited for somebody else who is beginning a run; afterwards a sweeper looks again. */
const maxPauses = 5;
const pauseMs = 20;

/** What a process is at, by the pools: those who come meanwhile share the next round. */
const rounds = new WeakMap<SlotStore, Map<string, { current: Promise<string[]>; next?: Promise<string[]> }>>();

/**
 * Begins queued runs of these pools as long as there are slots, in the order of their queues: a run that needs a slot of
 * another pool, which has none, lets later ones pass. Answers which have begun. Several processes at once do no harm.
 */
export function fillPools(ports: QueuePorts, pools: readonly string[]): Promise<string[]> {
  const under = rounds.get(ports.slots) ?? new Map();
  rounds.set(ports.slots, under);
  const key = pools.join(" ");
  const round = under.get(key);
  if (!round) {
    const current = fill(ports, pools).finally(() => under.delete(key));
    under.set(key, { current });
    return current;
  }
  const again = () => fillPools(ports, pools);
  round.next ??= round.current.then(again, again);
  return round.next;
}

async function fill(ports: QueuePorts, pools: readonly string[]): Promise<string[]> {
  const queues = new Queues(ports);
  let pauses = 0;
  for (let due: ReadonlySet<string> = new Set(pools); due.size > 0; ) {
    const stoodBack = await queues.goThrough(due);
    due = await queues.missed();
    if (due.size === 0 || !stoodBack) continue;
    if (++pauses > maxPauses) break;
    await ports.clock.sleep(pauseMs * pauses);
  }
  return queues.begun;
}

class Queues {
  readonly begun: string[] = [];
  readonly #ports: QueuePorts;
  readonly #limit: (pool: string) => Promise<number>;
  /** Pools that had no slot when they were last asked. */
  readonly #full = new Set<string>();
  /** Pools of runs that were tried in vain: others may have stood back for them. */
  #touched = new Set<string>();

  constructor(ports: QueuePorts) {
    this.#ports = ports;
    this.#limit = limitsOf(ports);
  }

  /** Answers whether slots were left for runs ahead that somebody else is beginning. */
  async goThrough(pools: ReadonlySet<string>): Promise<boolean> {
    const ahead = new Map<string, number>();
    this.#touched = new Set();
    // Who comes when all is full takes no turn from those in front.
    for (const pool of pools) if (!(await this.#hasRoom(pool))) this.#full.add(pool);
    if (Array.from(pools).every((pool) => this.#full.has(pool))) return false;
    const queues = Array.from(pools, (pool) => this.#ports.slots.waiting(pool));
    for await (const ticket of inOrder(queues)) {
      if (!ticket.pools.some((pool) => this.#full.has(pool))) await this.#try(ticket, ahead);
      if (Array.from(pools).every((pool) => this.#full.has(pool))) break;
    }
    return ahead.size > 0;
  }

  async #try(ticket: Ticket, ahead: Map<string, number>): Promise<void> {
    const left = async (pool: string) => (await this.#limit(pool)) - (ahead.get(pool) ?? 0);
    const admitted = await admit(this.#ports, ticket, left);
    if (admitted.outcome === "begun") this.begun.push(ticket.execution);
    if (admitted.outcome === "full") this.#full.add(admitted.pool);
    // Nobody stands back for one that is held.
    if (admitted.outcome === "held") return;
    for (const pool of ticket.pools) {
      if (admitted.outcome === "busy") ahead.set(pool, (ahead.get(pool) ?? 0) + 1);
      else if (admitted.outcome !== "begun") this.#touched.add(pool);
    }
  }

  /** Pools to go through again: somebody may have given a slot back, or stood back, while a run was tried. */
  async missed(): Promise<ReadonlySet<string>> {
    const missed = new Set(this.#touched);
    for (const pool of this.#full) {
      if (!(await this.#hasRoom(pool))) {
        missed.delete(pool);
      } else {
        this.#full.delete(pool);
        missed.add(pool);
      }
    }
    return missed;
  }

  async #hasRoom(pool: string): Promise<boolean> {
    const [taken, limit] = await Promise.all([this.#ports.slots.taken(pool), this.#limit(pool)]);
    return taken.length < limit;
  }
}

/** A run that has ended holds no slot and waits for none any more; the next ones begin. */
export async function giveSlotsBack(ports: QueuePorts, execution: Execution): Promise<void> {
  const ticket = ticketOf(execution);
  if (ticket.pools.length === 0) return;
  await ports.slots.leave(ticket);
  for (const pool of ticket.pools)
    await ports.slots.giveBack(pool, execution.id, pool === everybody ? { rank: ticket.rank } : {});
  await fillPools(ports, ticket.pools);
}
