import { GetCommand, UpdateCommand, type UpdateCommandInput } from "@aws-sdk/lib-dynamodb";
import type { SlotStore } from "@nova/service";
import { reportOutage, reportOutageIf } from "../clients/outage.ts";
import { checkFormat, FORMAT, requiredValue, texts } from "./fields.ts";
import { indexKeys, readEach, record, type TableConnection, tableKeys, writeItem } from "./records.ts";

/** A small page, because callers usually examine only the first tickets. */
const ticketsInPage = 25;

/**
 * A client's last rank expires after a day without requests; its next run then starts from the rank that ended last.
 */
const rememberedSeconds = 86_400;

/** Pads a rank, so that ranks sort numerically. */
function padRank(rank: number): string {
  return String(rank).padStart(12, "0");
}

/** Starts the attribute name of each slot; the id of the run follows. */
const slotPrefix = "slot.";

type Change = Pick<
  UpdateCommandInput,
  "UpdateExpression" | "ConditionExpression" | "ExpressionAttributeNames" | "ExpressionAttributeValues"
>;

/**
 * Slots of pools, and the queue of each pool. One item per pool holds all its taken slots: one attribute per run, with
 * the admission as its value, and their count. A single conditional write can therefore enforce the limit.
 */
export function createSlotStore(connection: TableConnection): SlotStore {
  const { client, table: TableName } = connection;
  const [unranked, ranked] = [ticketRecord(connection), rankedTicketRecord(connection)];
  const pools = poolRecord(connection);
  /** Pools whose record this process has written. */
  const known = new Set<string>();
  const keyOf = (pool: string) => ({ pk: `Q#${pool}`, sk: "SLOTS" });
  const change = (pool: string, update: Change) =>
    reportOutageIf("DynamoDB", () => client.send(new UpdateCommand({ TableName, Key: keyOf(pool), ...update })));
  /** Returns false if the run has a slot already, or `limit` slots are taken. */
  const takeNew = (pool: string, execution: string, admission: string, limit: number) =>
    change(pool, {
      UpdateExpression: "SET #slot = :admission, #format = :format ADD #taken :one",
      ConditionExpression: "attribute_not_exists(#slot) AND (attribute_not_exists(#taken) OR #taken < :limit)",
      ExpressionAttributeNames: { "#slot": slotPrefix + execution, "#format": "format", "#taken": "taken" },
      ExpressionAttributeValues: { ":admission": admission, ":format": FORMAT, ":one": 1, ":limit": limit },
    });
  /** Returns false if the run has no slot, or a later admission holds it. */
  const renew = (pool: string, execution: string, admission: string) =>
    change(pool, {
      UpdateExpression: "SET #slot = :admission",
      ConditionExpression: "#slot <= :admission",
      ExpressionAttributeNames: { "#slot": slotPrefix + execution },
      ExpressionAttributeValues: { ":admission": admission },
    });
  /** Returns false if the run has no slot, another admission holds it, or a run of a higher rank has already ended. */
  const leaveSlot = (pool: string, execution: string, { admission, rank }: { admission?: string; rank?: string }) =>
    change(pool, {
      UpdateExpression: `REMOVE #slot ADD #taken :less${rank ? " SET #ended = :ended" : ""}`,
      ConditionExpression: `${admission ? "#slot = :admission" : "attribute_exists(#slot)"}${
        rank ? " AND (attribute_not_exists(#ended) OR #ended < :ended)" : ""
      }`,
      ExpressionAttributeNames: {
        "#slot": slotPrefix + execution,
        "#taken": "taken",
        ...(rank && { "#ended": "ended" }),
      },
      ExpressionAttributeValues: {
        ":less": -1,
        ...(admission && { ":admission": admission }),
        ...(rank && { ":ended": Number(rank) }),
      },
    });
  return {
    take: async (pool, execution, admission, limit) =>
      (await takeNew(pool, execution, admission, limit)) || renew(pool, execution, admission),
    /** Does nothing if the run has no slot, or another admission holds it. */
    async giveBack(pool, execution, { admission, rank } = {}) {
      if (rank && (await leaveSlot(pool, execution, { rank }))) return;
      await leaveSlot(pool, execution, { ...(admission && { admission }) });
    },
    async taken(pool) {
      const get = new GetCommand({ TableName, Key: keyOf(pool), ConsistentRead: true });
      const { Item = {} } = await reportOutage("DynamoDB", () => client.send(get));
      return Object.keys(Item).flatMap((name) => (name.startsWith(slotPrefix) ? [name.slice(slotPrefix.length)] : []));
    },
    async rank(pool, of) {
      const Key = { pk: keyOf(pool).pk, sk: `R#${of}` };
      /** Increments the client's last rank and returns it. */
      const nextOwnRank = async () => {
        const update = new UpdateCommand({
          TableName,
          Key,
          ReturnValues: "UPDATED_NEW",
          UpdateExpression: "ADD #last :one SET #format = :format, #client = :client, #expiresAt = :expiresAt",
          ExpressionAttributeNames: {
            "#last": "last",
            "#format": "format",
            "#client": "client",
            "#expiresAt": "expiresAt",
          },
          ExpressionAttributeValues: {
            ":one": 1,
            ":format": FORMAT,
            ":client": of,
            ":expiresAt": Math.floor(Date.now() / 1000) + rememberedSeconds,
          },
        });
        const { Attributes } = await reportOutage("DynamoDB", () => client.send(update));
        return Number(Attributes?.last);
      };
      const get = new GetCommand({ TableName, Key: keyOf(pool), ProjectionExpression: "ended", ConsistentRead: true });
      const [last, { Item }] = await Promise.all([nextOwnRank(), reportOutage("DynamoDB", () => client.send(get))]);
      const next = Number(Item?.ended ?? 0) + 1;
      if (last >= next) return padRank(last);
      const startAfterEnded = new UpdateCommand({
        TableName,
        Key,
        UpdateExpression: "SET #last = :next",
        ConditionExpression: "#last < :next",
        ExpressionAttributeNames: { "#last": "last" },
        ExpressionAttributeValues: { ":next": next },
      });
      // If several runs arrive together, one gets the rank after the last ended one, and the others follow it.
      const isFirst = await reportOutageIf("DynamoDB", () => client.send(startAfterEnded));
      return padRank(isFirst ? next : await nextOwnRank());
    },
    async enqueue({ execution, pools: names, rank }) {
      for (const pool of names) {
        if (!known.has(pool)) await writeItem(pools.put({ pool, format: FORMAT }));
        known.add(pool);
        const ticket = { pool, execution, format: FORMAT, pools: names };
        await writeItem(rank === undefined ? unranked.put(ticket) : ranked.put({ ...ticket, rank }));
      }
    },
    async leave({ execution, pools: names, rank }) {
      for (const pool of names) {
        const ticket = { pool, execution };
        await writeItem(rank === undefined ? unranked.delete(ticket) : ranked.delete({ ...ticket, rank }));
      }
    },
    async *waiting(pool) {
      const queue = readEach(ranked.query.queue({ pool }), { consistent: true, limit: ticketsInPage });
      for await (const { execution, format, pools, rank } of queue) {
        checkFormat(`the ticket of ${execution}`, format);
        yield { execution, pools, rank };
      }
    },
    async *pools() {
      for await (const { pool } of readEach(pools.query.all({}))) yield pool;
    },
  };
}

const ticket = {
  ...texts("pool", "execution"),
  /** All pools in which the run needs a slot. */
  pools: requiredValue<string[]>(),
};

/** A run in the queue of a pool. Ids of runs sort by arrival time. */
const ticketRecord = record("ticket", ticket, { queue: tableKeys("Q#{pool}", "T#{execution}") });

/** A run with a rank in the queue of a pool. A query of the queue returns both kinds of tickets, ranked ones first. */
const rankedTicketRecord = record(
  "ticket",
  { ...ticket, ...texts("rank") },
  { queue: tableKeys("Q#{pool}", "T#{rank}{execution}") },
);

/** A pool that has had a queue. The sweeper lists these records. */
const poolRecord = record("pool", texts("pool"), {
  record: tableKeys("Q#{pool}", "POOL"),
  all: indexKeys("by-client", "POOLS", "{pool}"),
});
