import { GetCommand, UpdateCommand, type UpdateCommandInput } from "@aws-sdk/lib-dynamodb";
import { reaching, reachingIf } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { FORMAT } from "../format.ts";
import { store } from "../options.ts";

/** In front of the ids of runs: their slots are attributes of one item, beside those that every item has. */
const mark = "slot.";

type Change = Pick<
  UpdateCommandInput,
  "UpdateExpression" | "ConditionExpression" | "ExpressionAttributeNames" | "ExpressionAttributeValues"
>;

/**
 * The slots of a pool that are taken: one item, each slot an attribute named by its run with its admission as the value,
 * and how many there are. One write can so see to it that there are never too many, whoever else writes.
 */
export class HeldSlots {
  readonly #connection: TableConnection;

  constructor(connection: TableConnection) {
    this.#connection = connection;
  }

  /** False where the run has one, or there are `limit`. */
  take(pool: string, execution: string, admission: string, limit: number): Promise<boolean> {
    return this.#change(pool, {
      UpdateExpression: "SET #slot = :admission, #format = :format ADD #taken :one",
      ConditionExpression: "attribute_not_exists(#slot) AND (attribute_not_exists(#taken) OR #taken < :limit)",
      ExpressionAttributeNames: { "#slot": mark + execution, "#format": "format", "#taken": "taken" },
      ExpressionAttributeValues: { ":admission": admission, ":format": FORMAT, ":one": 1, ":limit": limit },
    });
  }

  /** False where the run has none, or a later admission has it. */
  renew(pool: string, execution: string, admission: string): Promise<boolean> {
    return this.#change(pool, {
      UpdateExpression: "SET #slot = :admission",
      ConditionExpression: "#slot <= :admission",
      ExpressionAttributeNames: { "#slot": mark + execution },
      ExpressionAttributeValues: { ":admission": admission },
    });
  }

  /** False where the run has none, or not by this admission. */
  giveBack(pool: string, execution: string, admission?: string): Promise<boolean> {
    const isTheirs = admission !== undefined;
    return this.#change(pool, {
      UpdateExpression: "REMOVE #slot ADD #taken :less",
      ConditionExpression: isTheirs ? "#slot = :admission" : "attribute_exists(#slot)",
      ExpressionAttributeNames: { "#slot": mark + execution, "#taken": "taken" },
      ExpressionAttributeValues: { ":less": -1, ...(isTheirs && { ":admission": admission }) },
    });
  }

  async taken(pool: string): Promise<string[]> {
    const { client, table } = this.#connection;
    const get = new GetCommand({ TableName: table, Key: keyOf(pool), ConsistentRead: true });
    const { Item = {} } = await reaching(store, () => client.send(get));
    return Object.keys(Item).flatMap((name) => (name.startsWith(mark) ? [name.slice(mark.length)] : []));
  }

  #change(pool: string, change: Change): Promise<boolean> {
    const { client, table } = this.#connection;
    return reachingIf(store, () => client.send(new UpdateCommand({ TableName: table, Key: keyOf(pool), ...change })));
  }
}

function keyOf(pool: string) {
  return { pk: `Q#${pool}`, sk: "SLOTS" };
}
