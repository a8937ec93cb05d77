import type { AttributeValue, QueryCommandInput } from "@aws-sdk/client-dynamodb";
import { beforeEach, expect, test } from "vitest";
import { keySchema, tableInput, useDatabase } from "../support/database.ts";

const database = useDatabase({
  ...tableInput("items", ["pk", "S"], ["sk", "S"], ["group", "S"], ["rank", "N"]),
  KeySchema: keySchema("pk", "sk"),
  GlobalSecondaryIndexes: [
    { IndexName: "by-rank", KeySchema: keySchema("group", "rank"), Projection: { ProjectionType: "ALL" } },
  ],
});
const Key = (sk: string) => ({ pk: { S: "p" }, sk: { S: sk } });
const item = (sk: string, group: string, rank: string): Record<string, AttributeValue> => ({
  ...Key(sk),
  group: { S: group },
  rank: { N: rank },
});

beforeEach(async () => {
  const { Items = [] } = await database.client.scan({ TableName: "items" });
  for (const { pk, sk } of Items) await database.client.deleteItem({ TableName: "items", Key: { pk, sk } as never });
  for (const [sk, group, rank] of [
    ["a", "g", "10"],
    ["b", "g", "9"],
    ["c", "g", "9"],
    ["d", "h", "1"],
  ] as const) {
    await database.client.putItem({ TableName: "items", Item: item(sk, group, rank) });
  }
});

function group(IndexName: string, more: Partial<QueryCommandInput> = {}) {
  const KeyConditionExpression = "#group = :g";
  const names = { ExpressionAttributeNames: { "#group": "group" }, ExpressionAttributeValues: { ":g": { S: "g" } } };
  return database.client.query({ TableName: "items", IndexName, KeyConditionExpression, ...names, ...more });
}

async function members(): Promise<string[]> {
  return ((await group("by-rank")).Items ?? []).map(({ sk }) => sk?.S ?? "");
}

test("an index of DynamoDB sorts items by its own sort key", async () => {
  expect(await members()).toEqual(["b", "c", "a"]);
});

test("an index of DynamoDB is updated when an item is changed, replaced or deleted", async () => {
  const { client } = database;
  const set = (sk: string, UpdateExpression: string, values?: Record<string, AttributeValue>) =>
    client.updateItem({
      TableName: "items",
      Key: Key(sk),
      UpdateExpression,
      ExpressionAttributeNames: { "#group": "group" },
      ExpressionAttributeValues: values,
    });
  await set("b", "SET #group = :h", { ":h": { S: "h" } });
  expect(await members()).toEqual(["c", "a"]);
  await set("a", "REMOVE #group");
  expect(await members()).toEqual(["c"]);
  await client.putItem({ TableName: "items", Item: item("a", "g", "1") });
  expect(await members()).toEqual(["a", "c"]);
  await client.deleteItem({ TableName: "items", Key: Key("c") });
  expect(await members()).toEqual(["a"]);
});

test("the pages of a DynamoDB index contain every item once, even if all index keys are equal", async () => {
  for (const ScanIndexForward of [true, false]) {
    const met: (string | undefined)[] = [];
    let ExclusiveStartKey: Record<string, AttributeValue> | undefined;
    do {
      const page = await group("by-rank", { Limit: 1, ScanIndexForward, ExclusiveStartKey });
      if (page.LastEvaluatedKey) {
        expect(Object.keys(page.LastEvaluatedKey).toSorted()).toEqual(["group", "pk", "rank", "sk"]);
      }
      met.push(...(page.Items ?? []).map(({ sk }) => sk?.S));
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
    expect(met).toEqual(ScanIndexForward ? ["b", "c", "a"] : ["a", "c", "b"]);
  }
});

test.each<[Partial<QueryCommandInput>, string]>([
  [{ ConsistentRead: true }, "Consistent reads are not supported on global secondary indexes"],
  [{ ExclusiveStartKey: Key("a") }, "The provided starting key is invalid"],
])("an index of DynamoDB refuses a query with %j", async (more, message) => {
  await expect(group("by-rank", more)).rejects.toThrow(message);
});
