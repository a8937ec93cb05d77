import { StoreUnavailable } from "@nova/engine";
import type { SlotStore, Ticket } from "@nova/service";
import { sortKeyOf } from "../../../packages/service/src/quotas/fill.ts";
import type { Caller } from "../../support/engine/scheduler.ts";

const outage = () => new StoreUnavailable("the store did not answer in time");
const pageSize = 2;

/** Slots and queues in memory, with one call for each write and page of the real table. */
export class SlotState {
  /** Admissions by pool, then by run. */
  readonly held = new Map<string, Map<string, string>>();
  readonly queues = new Map<string, Map<string, Ticket>>();

  holders(pool: string): string[] {
    return Array.from(this.held.get(pool)?.keys() ?? []);
  }

  port(caller: Caller): SlotStore {
    const ask = <T>(name: string, effect: () => T) => caller.call({ name, effect, outage });
    return {
      take: (pool, id, admission, limit) => ask(`take ${pool}`, () => this.#take(pool, id, admission, limit)),
      giveBack: (pool, id, of) => ask(`give back ${pool}`, () => this.#giveBack(pool, id, of?.admission)),
      rank: () => Promise.reject(new TypeError("no run of this world has a rank")),
      taken: (pool) => ask(`taken ${pool}`, () => this.holders(pool)),
      enqueue: async (ticket) => {
        for (const pool of ticket.pools)
          await ask(`enqueue ${pool}`, () => of(this.queues, pool).set(ticket.execution, ticket));
      },
      leave: async ({ execution, pools }) => {
        for (const pool of pools) await ask(`leave ${pool}`, () => of(this.queues, pool).delete(execution));
      },
      waiting: (pool) => this.#waiting(ask, pool),
      pools: () => this.#pools(ask),
    };
  }

  #take(pool: string, id: string, admission: string, limit: number): boolean {
    const held = of(this.held, pool);
    const there = held.get(id);
    if (there === undefined ? held.size >= limit : there > admission) return false;
    held.set(id, admission);
    return true;
  }

  #giveBack(pool: string, id: string, admission?: string): void {
    const held = of(this.held, pool);
    if (admission === undefined || held.get(id) === admission) held.delete(id);
  }

  async *#waiting(ask: <T>(name: string, effect: () => T) => Promise<T>, pool: string): AsyncIterable<Ticket> {
    for (let after = ""; ; ) {
      const page = await ask(`waiting ${pool}`, () => this.#page(pool, after));
      yield* page;
      if (page.length < pageSize) return;
      after = sortKeyOf(page.at(-1) as Ticket);
    }
  }

  #page(pool: string, after: string): Ticket[] {
    const tickets = Array.from(of(this.queues, pool).values()).filter((ticket) => sortKeyOf(ticket) > after);
    return tickets.sort((a, b) => (sortKeyOf(a) < sortKeyOf(b) ? -1 : 1)).slice(0, pageSize);
  }

  async *#pools(ask: <T>(name: string, effect: () => T) => Promise<T>): AsyncIterable<string> {
    yield* await ask("pools", () => Array.from(this.queues.keys()));
  }
}

function of<T>(maps: Map<string, Map<string, T>>, name: string): Map<string, T> {
  const map = maps.get(name) ?? new Map<string, T>();
  maps.set(name, map);
  return map;
}
