import { BatchGetItemCommand, PutItemCommand, type PutItemCommandInput, QueryCommand } from "@aws-sdk/client-dynamodb";
import { reaching, reachingIf } from "../../clients/outage.ts";
import { type Item, type ItemConnection, partitionKey, textValue } from "./attributes.ts";

const store = "DynamoDB";

export type Condition = Pick<
  PutItemCommandInput,
  "ConditionExpression" | "ExpressionAttributeNames" | "ExpressionAttributeValues"
>;

/** Sort keys of one partition: all that begin so, or all from one to another, both included. */
export interface KeyRange {
  partition: string;
  keys: { prefix: string } | { from: string; to: string };
  newestFirst?: boolean;
  limit?: number;
}

interface ItemKey {
  partition: string;
  /** Sort key. */
  key: string;
}

/** DynamoDB, BatchGetItem: items of one request. */
export const maxKeys = 100;

export const ifAbsent: Condition = {
  ConditionExpression: "attribute_not_exists(#pk) AND attribute_not_exists(#sk)",
  ExpressionAttributeNames: { "#pk": "pk", "#sk": "sk" },
};

/** Conditional puts and consistent reads: all that chain partitions ever see. */
export class ChainTable {
  readonly #client: ItemConnection["client"];
  readonly #table: string;

  constructor({ client, table }: ItemConnection) {
    this.#client = client;
    this.#table = table;
  }

  /** False when the condition failed. */
  put(item: Item, condition: Condition): Promise<boolean> {
    const command = new PutItemCommand({ TableName: this.#table, Item: item, ...condition });
    return reachingIf(store, () => this.#client.send(command));
  }

  /** One page; `after` is where the page before ended. */
  async page(range: KeyRange, after?: Item): Promise<{ items: Item[]; end?: Item }> {
    const command = new QueryCommand({
      TableName: this.#table,
      ConsistentRead: true,
      ...conditionOf(range),
      ...(range.newestFirst && { ScanIndexForward: false }),
      ...(range.limit !== undefined && { Limit: range.limit }),
      ...(after && { ExclusiveStartKey: after }),
    });
    const { Items = [], LastEvaluatedKey } = await reaching(store, () => this.#client.send(command));
    return { items: Items, ...(LastEvaluatedKey && { end: LastEvaluatedKey }) };
  }

  /** Of the items with these keys those that are there, in any order; at most 100 at a time, as DynamoDB takes them. */
  async items(keys: readonly ItemKey[]): Promise<Item[]> {
    const found: Item[] = [];
    let due = keys.map(({ partition, key }) => ({ pk: textValue(partitionKey(partition)), sk: textValue(key) }));
    while (due.length > 0) {
      const asked = { [this.#table]: { Keys: due.splice(0, maxKeys), ConsistentRead: true } };
      const command = new BatchGetItemCommand({ RequestItems: asked });
      const { Responses, UnprocessedKeys } = await reaching(store, () => this.#client.send(command));
      found.push(...(Responses?.[this.#table] ?? []));
      // Large items come in several answers.
      due = [...((UnprocessedKeys?.[this.#table]?.Keys as typeof due | undefined) ?? []), ...due];
    }
    return found;
  }

  async *pages(range: KeyRange): AsyncGenerator<{ items: Item[]; isLast: boolean }> {
    let after: Item | undefined;
    do {
      const { items, end } = await this.page(range, after);
      after = end;
      yield { items, isLast: !end };
    } while (after);
  }
}

function conditionOf({ partition, keys }: KeyRange) {
  const isPrefix = "prefix" in keys;
  return {
    KeyConditionExpression: `#pk = :pk AND ${isPrefix ? "begins_with(#sk, :from)" : "#sk BETWEEN :from AND :to"}`,
    ExpressionAttributeNames: { "#pk": "pk", "#sk": "sk" },
    ExpressionAttributeValues: {
      ":pk": textValue(partitionKey(partition)),
      ":from": textValue(isPrefix ? keys.prefix : keys.from),
      ...(!isPrefix && { ":to": textValue(keys.to) }),
    },
  };
}
