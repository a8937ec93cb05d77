import { GetCommand, UpdateCommand, type UpdateCommandInput } from "@aws-sdk/lib-dynamodb";
import type { SlotStore } from "@nova/service";
import { reaching, reachingIf } from "../clients/outage.ts";
import { checkFormat, FORMAT, requiredValue, texts } from "./fields.ts";
import { each, indexed, place, record, type TableConnection, write } from "./records.ts";

/** Mostly the first one is told whether there is a slot. */
const ticketsInPage = 25;

/** A client that asked for nothing for so long is behind whatever has ended. */
const rememberedSeconds = 86_400;

/** As long as every other one, so that they sort as numbers do. */
function rankOf(place: number): string {
  return String(place).padStart(12, "0");
}

/** In front of the ids of runs: their slots are attributes of one item, beside those that every item has. */
const mark = "slot.";

type Change = Pick<
  UpdateCommandInput,
  "UpdateExpression" | "ConditionExpression" | "ExpressionAttributeNames" | "ExpressionAttributeValues"
>;

/**
 * Slots of pools, and the queues in front of them. The slots of a pool that are taken are one item, each slot an attribute
 * named by its run with its admission as the value, and how many there are. One write can so see to it that there are never
 * too many, whoever else writes.
 */
export function createSlotStore(connection: TableConnection): SlotStore {
  const { client, table: TableName } = connection;
  const [unranked, ranked] = [ticketRecord(connection), rankedTicketRecord(connection)];
  const pools = poolRecord(connection);
  /** Pools that this process has seen to. */
  const known = new Set<string>();
  const keyOf = (pool: string) => ({ pk: `Q#${pool}`, sk: "SLOTS" });
  const change = (pool: string, how: Change) =>
    reachingIf("DynamoDB", () => client.send(new UpdateCommand({ TableName, Key: keyOf(pool), ...how })));
  /** False where the run has one, or there are `limit`. */
  const takeNew = (pool: string, execution: string, admission: string, limit: number) =>
    change(pool, {
      UpdateExpression: "SET #slot = :admission, #format = :format ADD #taken :one",
      ConditionExpression: "attribute_not_exists(#slot) AND (attribute_not_exists(#taken) OR #taken < :limit)",
      ExpressionAttributeNames: { "#slot": mark + execution, "#format": "format", "#taken": "taken" },
      ExpressionAttributeValues: { ":admission": admission, ":format": FORMAT, ":one": 1, ":limit": limit },
    });
  /** False where the run has none, or a later admission has it. */
  const renew = (pool: string, execution: string, admission: string) =>
    change(pool, {
      UpdateExpression: "SET #slot = :admission",
      ConditionExpression: "#slot <= :admission",
      ExpressionAttributeNames: { "#slot": mark + execution },
      ExpressionAttributeValues: { ":admission": admission },
    });
  /** False where the run has none, or not by this admission, or one of a higher rank has ended before. */
  const leaveSlot = (pool: string, execution: string, { admission, rank }: { admission?: string; rank?: string }) =>
    change(pool, {
      UpdateExpression: `REMOVE #slot ADD #taken :less${rank ? " SET #ended = :ended" : ""}`,
      ConditionExpression: `${admission ? "#slot = :admission" : "attribute_exists(#slot)"}${
        rank ? " AND (attribute_not_exists(#ended) OR #ended < :ended)" : ""
      }`,
      ExpressionAttributeNames: { "#slot": mark + execution, "#taken": "taken", ...(rank && { "#ended": "ended" }) },
      ExpressionAttributeValues: {
        ...{ ":less": -1, ...(admission && { ":admission": admission }), ...(rank && { ":ended": Number(rank) }) },
      },
    });
  return {
    take: async (pool, execution, admission, limit) =>
      (await takeNew(pool, execution, admission, limit)) || renew(pool, execution, admission),
    /** Nothing happens where the run has none, or not by this admission. */
    async giveBack(pool, execution, { admission, rank } = {}) {
      if (rank && (await leaveSlot(pool, execution, { rank }))) return;
      await leaveSlot(pool, execution, { ...(admission && { admission }) });
    },
    async taken(pool) {
      const get = new GetCommand({ TableName, Key: keyOf(pool), ConsistentRead: true });
      const { Item = {} } = await reaching("DynamoDB", () => client.send(get));
      return Object.keys(Item).flatMap((name) => (name.startsWith(mark) ? [name.slice(mark.length)] : []));
    },
    async rank(pool, of) {
      const Key = { pk: keyOf(pool).pk, sk: `R#${of}` };
      const behindOwn = async () => {
        const update = new UpdateCommand({
          ...{ TableName, Key, ReturnValues: "UPDATED_NEW" },
          UpdateExpression: "ADD #last :one SET #format = :format, #client = :client, #expiresAt = :expiresAt",
          ExpressionAttributeNames: {
            ...{ "#last": "last", "#format": "format", "#client": "client", "#expiresAt": "expiresAt" },
          },
          ExpressionAttributeValues: {
            ...{ ":one": 1, ":format": FORMAT, ":client": of },
            ":expiresAt": Math.floor(Date.now() / 1000) + rememberedSeconds,
          },
        });
        const { Attributes } = await reaching("DynamoDB", () => client.send(update));
        return Number(Attributes?.last);
      };
      const get = new GetCommand({ TableName, Key: keyOf(pool), ProjectionExpression: "ended", ConsistentRead: true });
      const [last, { Item }] = await Promise.all([behindOwn(), reaching("DynamoDB", () => client.send(get))]);
      const next = Number(Item?.ended ?? 0) + 1;
      if (last >= next) return rankOf(last);
      const behindEnded = new UpdateCommand({
        ...{ TableName, Key, UpdateExpression: "SET #last = :next", ConditionExpression: "#last < :next" },
        ...{ ExpressionAttributeNames: { "#last": "last" }, ExpressionAttributeValues: { ":next": next } },
      });
      // Of several that arrive together one is right behind what has ended, and each of the others behind another one.
      const isFirst = await reachingIf("DynamoDB", () => client.send(behindEnded));
      return rankOf(isFirst ? next : await behindOwn());
    },
    async enqueue({ execution, pools: names, rank }) {
      for (const pool of names) {
        if (!known.has(pool)) await write(pools.put({ pool, format: FORMAT }));
        known.add(pool);
        const ticket = { pool, execution, format: FORMAT, pools: names };
        await write(rank === undefined ? unranked.put(ticket) : ranked.put({ ...ticket, rank }));
      }
    },
    async leave({ execution, pools: names, rank }) {
      for (const pool of names) {
        const ticket = { pool, execution };
        await write(rank === undefined ? unranked.delete(ticket) : ranked.delete({ ...ticket, rank }));
      }
    },
    async *waiting(pool) {
      const queue = each(ranked.query.queue({ pool }), { consistent: true, limit: ticketsInPage });
      for await (const { execution, format, pools, rank } of queue) {
        checkFormat(`the ticket of ${execution}`, format);
        yield { execution, pools, rank };
      }
    },
    async *pools() {
      for await (const { pool } of each(pools.query.all({}))) yield pool;
    },
  };
}

const ticket = {
  ...texts("pool", "execution"),
  /** All the pools of which the run needs a slot. */
  pools: requiredValue<string[]>(),
};

/** A run in the queue of a pool; ids of runs sort by the time of their arrival. */
const ticketRecord = record("ticket", ticket, { queue: place("Q#{pool}", "T#{execution}") });

/** The same of a run with a rank. Every query of the queue finds both, the ranked ones first. */
const rankedTicketRecord = record(
  "ticket",
  { ...ticket, ...texts("rank") },
  { queue: place("Q#{pool}", "T#{rank}{execution}") },
);

/** A pool that has had a queue: a sweeper looks for them. */
const poolRecord = record("pool", texts("pool"), {
  record: place("Q#{pool}", "POOL"),
  all: indexed("by-client", "POOLS", "{pool}"),
});
