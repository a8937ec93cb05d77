import { BatchGetItemCommand, PutItemCommand, type PutItemCommandInput, QueryCommand } from "@aws-sdk/client-dynamodb";
import { defined } from "@nova/workflow/defined";
import { reportOutage, reportOutageIf } from "../../clients/outage.ts";
import { type Item, type ItemConnection, textValue } from "./items.ts";

export type Condition = Pick<
  PutItemCommandInput,
  "ConditionExpression" | "ExpressionAttributeNames" | "ExpressionAttributeValues"
>;

/** Sort keys of one partition: all, those with a prefix, or a range with both ends. */
export interface KeyRange {
  partition: string;
  keys?: { prefix: string } | { from: string; to: string };
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

/** Returns false if the condition failed. */
export function putItem({ client, table }: ItemConnection, item: Item, condition: Condition): Promise<boolean> {
  return reportOutageIf("DynamoDB", () =>
    client.send(new PutItemCommand({ TableName: table, Item: item, ...condition })),
  );
}

/** Reads one page; `after` is the end of the previous page. */
export async function readRange({ client, table }: ItemConnection, range: KeyRange, after?: Item) {
  const command = new QueryCommand({
    TableName: table,
    ConsistentRead: true,
    ...conditionOf(range),
    ...defined({
      Limit: range.limit,
      ExclusiveStartKey: after,
      ScanIndexForward: range.newestFirst ? false : undefined,
    }),
  });
  const { Items = [], LastEvaluatedKey } = await reportOutage("DynamoDB", () => client.send(command));
  return { items: Items, end: LastEvaluatedKey };
}

export async function* readRangePages(connection: ItemConnection, range: KeyRange) {
  let after: Item | undefined;
  do {
    const { items, end } = await readRange(connection, range, after);
    after = end;
    yield { items, isLast: !end };
  } while (after);
}

/** Reads the items that exist under these keys, in any order, at most `maxKeys` per request. */
export async function readItems({ client, table }: ItemConnection, keys: readonly ItemKey[]): Promise<Item[]> {
  const found: Item[] = [];
  let due = keys.map(({ partition, key }) => ({ pk: textValue(partition), sk: textValue(key) }));
  while (due.length > 0) {
    const asked = { [table]: { Keys: due.splice(0, maxKeys), ConsistentRead: true } };
    const command = new BatchGetItemCommand({ RequestItems: asked });
    const { Responses, UnprocessedKeys } = await reportOutage("DynamoDB", () => client.send(command));
    found.push(...(Responses?.[table] ?? []));
    // DynamoDB returns at most 16 MB per request and lists the other keys.
    due = [...((UnprocessedKeys?.[table]?.Keys as typeof due | undefined) ?? []), ...due];
  }
  return found;
}

function conditionOf({ partition, keys = { prefix: "" } }: KeyRange) {
  const [from, to] = "prefix" in keys ? [keys.prefix] : [keys.from, keys.to];
  const wanted = to === undefined ? from !== "" && " AND begins_with(#sk, :from)" : " AND #sk BETWEEN :from AND :to";
  return {
    KeyConditionExpression: `#pk = :pk${wanted || ""}`,
    ExpressionAttributeNames: { "#pk": "pk", ...(wanted && { "#sk": "sk" }) },
    ExpressionAttributeValues: {
      ":pk": textValue(partition),
      ...(wanted && { ":from": textValue(from) }),
      ...(to !== undefined && { ":to": textValue(to) }),
    },
  };
}
