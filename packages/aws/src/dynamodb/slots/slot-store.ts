import type { SlotStore, Ticket } from "@nova/service";
import { reaching } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { checkFormat, FORMAT } from "../format.ts";
import { consistently, plainly, store } from "../options.ts";
import { whenAsked } from "../when-asked.ts";
import { HeldSlots } from "./held-slots.ts";
import { poolEntity, ticketEntity } from "./ticket-entity.ts";

/** Mostly the first one is told whether there is a slot. */
const ticketsInPage = 25;

/** Slots of pools, and the queues in front of them. */
export function createSlotStore(connection: TableConnection): SlotStore {
  const held = new HeldSlots(connection);
  const tickets = whenAsked(() => ticketEntity(connection));
  const pools = whenAsked(() => poolEntity(connection));
  /** Pools that this process has seen to. */
  const known = new Set<string>();
  return {
    take: async (pool, execution, admission, limit) =>
      (await held.take(pool, execution, admission, limit)) || held.renew(pool, execution, admission),
    async giveBack(pool, execution, admission) {
      await held.giveBack(pool, execution, admission);
    },
    taken: (pool) => held.taken(pool),
    async enqueue({ execution, pools: names }) {
      for (const pool of names) {
        if (!known.has(pool)) await reaching(store, () => pools.put({ pool, format: FORMAT }).go(plainly));
        known.add(pool);
        const ticket = { pool, execution, format: FORMAT, pools: names };
        await reaching(store, () => tickets.put(ticket).go(plainly));
      }
    },
    async leave({ execution, pools: names }) {
      for (const pool of names) await reaching(store, () => tickets.delete({ pool, execution }).go(plainly));
    },
    waiting: (pool) => waitingTickets(tickets, pool),
    pools: () => allPools(pools),
  };
}

async function* waitingTickets(tickets: ReturnType<typeof ticketEntity>, pool: string): AsyncGenerator<Ticket> {
  const query = tickets.query.queue({ pool });
  let cursor: string | null = null;
  do {
    const page = await reaching(store, () => query.go({ ...consistently, limit: ticketsInPage, cursor }));
    for (const { execution, format, pools } of page.data) {
      checkFormat(`the ticket of ${execution}`, format);
      yield { execution, pools };
    }
    cursor = page.cursor;
  } while (cursor);
}

async function* allPools(pools: ReturnType<typeof poolEntity>): AsyncGenerator<string> {
  const query = pools.query.all({});
  let cursor: string | null = null;
  do {
    const page = await reaching(store, () => query.go({ ...plainly, cursor }));
    for (const { pool } of page.data) yield pool;
    cursor = page.cursor;
  } while (cursor);
}
