import { GetCommand, UpdateCommand, type UpdateCommandInput } from "@aws-sdk/lib-dynamodb";
import type { SlotStore } from "@nova/service";
import { reaching, reachingIf } from "../clients/outage.ts";
import { requiredValue, texts } from "./fields.ts";
import { checkFormat, FORMAT } from "./format.ts";
import { each, indexed, place, record, type TableConnection, write } from "./records.ts";

/** Mostly the first one is told whether there is a slot. */
const ticketsInPage = 25;

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
  const tickets = ticketRecord(connection);
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
  return {
    take: async (pool, execution, admission, limit) =>
      (await takeNew(pool, execution, admission, limit)) || renew(pool, execution, admission),
    /** Nothing happens where the run has none, or not by this admission. */
    async giveBack(pool, execution, admission) {
      const isTheirs = admission !== undefined;
      await change(pool, {
        UpdateExpression: "REMOVE #slot ADD #taken :less",
        ConditionExpression: isTheirs ? "#slot = :admission" : "attribute_exists(#slot)",
        ExpressionAttributeNames: { "#slot": mark + execution, "#taken": "taken" },
        ExpressionAttributeValues: { ":less": -1, ...(isTheirs && { ":admission": admission }) },
      });
    },
    async taken(pool) {
      const get = new GetCommand({ TableName, Key: keyOf(pool), ConsistentRead: true });
      const { Item = {} } = await reaching("DynamoDB", () => client.send(get));
      return Object.keys(Item).flatMap((name) => (name.startsWith(mark) ? [name.slice(mark.length)] : []));
    },
    async enqueue({ execution, pools: names }) {
      for (const pool of names) {
        if (!known.has(pool)) await write(pools.put({ pool, format: FORMAT }));
        known.add(pool);
        await write(tickets.put({ pool, execution, format: FORMAT, pools: names }));
      }
    },
    async leave({ execution, pools: names }) {
      for (const pool of names) await write(tickets.delete({ pool, execution }));
    },
    async *waiting(pool) {
      const queue = each(tickets.query.queue({ pool }), { consistent: true, limit: ticketsInPage });
      for await (const { execution, format, pools } of queue) {
        checkFormat(`the ticket of ${execution}`, format);
        yield { execution, pools };
      }
    },
    async *pools() {
      for await (const { pool } of each(pools.query.all({}))) yield pool;
    },
  };
}

/** A run in the queue of a pool; ids of runs sort by the time of their arrival. */
const ticketRecord = record(
  "ticket",
  {
    ...texts("pool", "execution"),
    /** All the pools of which the run needs a slot. */
    pools: requiredValue<string[]>(),
  },
  { queue: place("Q#{pool}", "T#{execution}") },
);

/** A pool that has had a queue: a sweeper looks for them. */
const poolRecord = record("pool", texts("pool"), {
  record: place("Q#{pool}", "POOL"),
  all: indexed("by-client", "POOLS", "{pool}"),
});
