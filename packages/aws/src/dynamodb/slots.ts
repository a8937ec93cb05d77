import type { SlotStore } from "@nova/service";
import { reportOutage } from "../clients/outage.ts";
import { documentMethods } from "./document-methods.ts";
import * as db from "./records.ts";

/** A small page, because callers usually examine only the first tickets. */
const ticketsInPage = 25;

/**
 * Seconds without requests after which the store forgets a client's last rank, the number that orders the client's
 * waiting runs. The client's next run then gets the rank after the rank of the last run that has ended.
 */
const rememberedSeconds = 86_400;

/** Pads a rank, so that ranks sort numerically. */
function padRank(rank: number): string {
  return String(rank).padStart(12, "0");
}

/** The start of the name of each slot's attribute. The id of the run follows it. */
const slotPrefix = "slot.";

/**
 * Creates the store of the slots and the queue of each pool. One item per pool holds all taken slots of the pool, and
 * their number. Each slot is an attribute: its name contains the id of the run, and its value is the id of the
 * admission (one attempt to start the run). So a single conditional write can enforce the limit.
 */
export function createSlotStore(connection: db.TableConnection): SlotStore {
  const { client, table: TableName } = connection;
  const [unranked, ranked] = [ticketRecord(connection), rankedTicketRecord(connection)];
  const pools = poolRecord(connection);
  /** Pools whose record this process has written. */
  const known = new Set<string>();
  const keyOf = (pool: string) => ({ pk: `Q#${pool}`, sk: "SLOTS" });
  /** Changes the slots of a pool; `#slot` is the slot of the run. Returns false if the condition failed. */
  const change = async (pool: string, execution: string, changes: Parameters<typeof db.updateItem>[2]) =>
    (await db.updateItem(connection, keyOf(pool), { ...changes, names: { slot: slotPrefix + execution } })) !==
    undefined;
  /** Takes a free slot for a run. Returns false if the run has a slot already, or if `limit` slots are taken. */
  const takeNew = (pool: string, execution: string, admission: string, limit: number) =>
    change(pool, execution, {
      update: "SET #slot = :admission, #format = :format ADD #taken :one",
      condition: "attribute_not_exists(#slot) AND (attribute_not_exists(#taken) OR #taken < :limit)",
      values: { admission, format: db.FORMAT, one: 1, limit },
    });
  /**
   * Stores that this admission holds the slot that the run already has. Returns false if the run has no slot, or if a
   * later admission holds it.
   */
  const renew = (pool: string, execution: string, admission: string) =>
    change(pool, execution, {
      update: "SET #slot = :admission",
      condition: "#slot <= :admission",
      values: { admission },
    });
  /**
   * Removes the slot of a run. Returns false if the run has no slot, if another admission holds it, or if a run of the
   * same or a higher rank has already ended.
   */
  const leaveSlot = (pool: string, execution: string, { admission, rank }: { admission?: string; rank?: string }) =>
    change(pool, execution, {
      update: `REMOVE #slot ADD #taken :less${rank ? " SET #ended = :ended" : ""}`,
      condition: `${admission ? "#slot = :admission" : "attribute_exists(#slot)"}${
        rank ? " AND (attribute_not_exists(#ended) OR #ended < :ended)" : ""
      }`,
      values: { less: -1, ...(admission && { admission }), ...(rank && { ended: Number(rank) }) },
    });
  const readSlots = async (pool: string) => {
    const get = documentMethods(client).get({ TableName, Key: keyOf(pool), ConsistentRead: true });
    return ((await reportOutage("DynamoDB", () => get.promise())).Item ?? {}) as { ended?: number };
  };
  return {
    take: async (pool, execution, admission, limit) =>
      (await takeNew(pool, execution, admission, limit)) || renew(pool, execution, admission),
    /** Releases the slot of a run. Does nothing if the run has no slot, or if another admission holds it. */
    async giveBack(pool, execution, { admission, rank } = {}) {
      if (rank && (await leaveSlot(pool, execution, { rank }))) return;
      await leaveSlot(pool, execution, { ...(admission && { admission }) });
    },
    async taken(pool) {
      const names = Object.keys(await readSlots(pool));
      return names.flatMap((name) => (name.startsWith(slotPrefix) ? [name.slice(slotPrefix.length)] : []));
    },
    async rank(pool, of) {
      const key = { pk: keyOf(pool).pk, sk: `R#${of}` };
      const nextOwnRank = async () => {
        const expiresAt = Math.floor(Date.now() / 1000) + rememberedSeconds;
        const changed = await db.updateItem(connection, key, {
          update: "ADD #last :one SET #format = :format, #client = :client, #expiresAt = :expiresAt",
          values: { one: 1, format: db.FORMAT, client: of, expiresAt },
        });
        return Number(changed?.last);
      };
      const [last, { ended = 0 }] = await Promise.all([nextOwnRank(), readSlots(pool)]);
      const next = Number(ended) + 1;
      if (last >= next) return padRank(last);
      // If several runs of a client arrive together, one of them gets the rank `next`, and the others get the ranks
      // after it.
      const isFirst = await db.updateItem(connection, key, {
        update: "SET #last = :next",
        condition: "#last < :next",
        values: { next },
      });
      return padRank(isFirst ? next : await nextOwnRank());
    },
    async enqueue({ execution, pools: names, rank }) {
      for (const pool of names) {
        if (!known.has(pool)) await db.writeItem(pools.put({ pool, format: db.FORMAT }));
        known.add(pool);
        const ticket = { pool, execution, format: db.FORMAT, pools: names };
        await db.writeItem(rank === undefined ? unranked.put(ticket) : ranked.put({ ...ticket, rank }));
      }
    },
    async leave({ execution, pools: names, rank }) {
      for (const pool of names) {
        const ticket = { pool, execution };
        await db.writeItem(rank === undefined ? unranked.delete(ticket) : ranked.delete({ ...ticket, rank }));
      }
    },
    async *waiting(pool) {
      const queue = db.readEach(ranked.query.queue({ pool }), { consistent: true, limit: ticketsInPage });
      for await (const { execution, format, pools, rank } of queue) {
        db.checkFormat(`the ticket of ${execution}`, format);
        yield { execution, pools, rank };
      }
    },
    async *pools() {
      for await (const { pool } of db.readEach(pools.query.all({}))) yield pool;
    },
  };
}

const ticket = {
  ...db.texts("pool", "execution"),
  pools: db.requiredValue<string[]>(),
};

/** A run in the queue of a pool. Ids of runs sort by arrival time. */
const ticketRecord = db.record("ticket", ticket, { queue: db.tableKeys("Q#{pool}", "T#{execution}") });

/** A run with a rank in the queue of a pool. A query of the queue returns both kinds of tickets, ranked ones first. */
const rankedTicketRecord = db.record(
  "ticket",
  { ...ticket, ...db.texts("rank") },
  { queue: db.tableKeys("Q#{pool}", "T#{rank}{execution}") },
);

/** A pool that has had a queue. The sweeper lists these records. */
const poolRecord = db.record("pool", db.texts("pool"), {
  record: db.tableKeys("Q#{pool}", "POOL"),
  all: db.indexKeys("by-client", "POOLS", "{pool}"),
});

/**
 * Maximum number of milliseconds by which a caller reserves a time in advance. So a caller that then creates no sandbox
 * wastes only a short time.
 */
const maxAheadMs = 1_000;
/**
 * Spaces creations 5 % wider than E2B's rate requires, because requests of several processes can arrive closer together
 * than they were sent.
 */
const margin = 1.05;

/**
 * Creates a function that spaces out the sandbox creations of all processes to the rate that the E2B plan allows. That
 * function resolves to true when the caller may create a sandbox. If all times within `maxAheadMs` are reserved, it
 * resolves to false after a pause.
 */
export function createPace(
  connection: db.TableConnection,
  perSecond: number,
  { now, sleep }: { now(): number; sleep(ms: number): Promise<unknown> },
): () => Promise<boolean> {
  const stepMs = Math.ceil((margin * 1000) / perSecond);
  const aheadMs = Math.max(maxAheadMs, stepMs);
  /**
   * If `condition` holds, reserves a time for a creation, and returns the time until which the next caller has to wait.
   * Otherwise returns undefined.
   */
  const reserve = async (change: string, condition: string, times: Record<string, number>) => {
    const update = `SET #format = :format${change}`;
    const values = { ...times, format: db.FORMAT };
    return (await db.updateItem(connection, { pk: "Q#S", sk: "PACE" }, { update, condition, values }))?.free as
      | number
      | undefined;
  };
  return async () => {
    const from = now();
    const immediately = { from, next: from + stepMs };
    const later = { from, to: from + aheadMs, step: stepMs };
    const until =
      (await reserve(", #free = :next", "attribute_not_exists(#free) OR #free < :from", immediately)) ??
      (await reserve(" ADD #free :step", "#free BETWEEN :from AND :to", later));
    const waitMs = until === undefined ? maxAheadMs : until - stepMs - from;
    if (waitMs > 0) await sleep(waitMs);
    return until !== undefined;
  };
}
