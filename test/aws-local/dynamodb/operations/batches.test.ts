import type { BatchGetItemCommandInput, BatchWriteItemCommandInput } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import { tableInput, useDatabase } from "../support/database.ts";

const database = useDatabase(
  tableInput("items", ["pk", "S"]),
  tableInput("others", ["pk", "S"]),
  tableInput("large", ["pk", "S"]),
);
const Key = (S: string) => ({ pk: { S } });
const put = (S: string) => ({ PutRequest: { Item: { ...Key(S), v: { S: `value ${S}` } } } });
const remove = (S: string) => ({ DeleteRequest: { Key: Key(S) } });

test("BatchWriteItem and BatchGetItem write and read several tables at once", async () => {
  await database.client.batchWriteItem({ RequestItems: { items: [put("a"), put("b")], others: [put("a")] } });
  const written = await database.client.batchWriteItem({
    RequestItems: { items: [remove("b"), remove("nothing")] },
  });
  expect(written).toMatchObject({
    UnprocessedItems: {},
  });
  const read = await database.client.batchGetItem({
    RequestItems: {
      items: { Keys: [Key("a"), Key("b")], ConsistentRead: true },
      others: { Keys: [Key("a")], ProjectionExpression: "v" },
    },
  });
  expect(read).toMatchObject({
    Responses: { items: [{ ...Key("a"), v: { S: "value a" } }], others: [{ v: { S: "value a" } }] },
    UnprocessedKeys: {},
  });
});

test("BatchGetItem returns the keys of the items after the first 16 MB as unprocessed", async () => {
  const names = Array.from({ length: 50 }, (_, i) => `k${i}`);
  const text = { S: "x".repeat(380_000) };
  for (const name of names) await database.client.putItem({ TableName: "large", Item: { ...Key(name), text } });
  const read = await database.client.batchGetItem({ RequestItems: { large: { Keys: names.map(Key) } } });
  const [found, left] = [read.Responses?.large ?? [], read.UnprocessedKeys?.large?.Keys ?? []];
  expect(found.length).toBe(45);
  expect([...found, ...left].map(({ pk }) => pk?.S)).toEqual(names);
});

test.each<[string, BatchWriteItemCommandInput["RequestItems"], string]>([
  ["no table", {}, "Member must have length greater than or equal to 1"],
  ["no request", { items: [] }, "Map value must satisfy constraint"],
  ["26 requests", { items: Array.from({ length: 26 }, (_, i) => put(String(i))) }, "less than or equal to 25"],
  ["one item twice", { items: [put("a"), remove("a")] }, "Provided list of item keys contains duplicates"],
  ["an empty request", { items: [{}] }, "must contain exactly one of the supported datatypes"],
  ["an unknown table", { unknown: [put("a")] }, "Requested resource not found"],
  [
    "a key that does not fit the table",
    { items: [put("fine"), { DeleteRequest: { Key: { x: { S: "a" } } } }] },
    "does not match the schema",
  ],
])("BatchWriteItem refuses %s, and stores no item", async (_, RequestItems, message) => {
  await expect(database.client.batchWriteItem({ RequestItems })).rejects.toThrow(message);
  expect((await database.client.getItem({ TableName: "items", Key: Key("fine") })).Item).toBeUndefined();
});

test.each<[string, BatchGetItemCommandInput["RequestItems"], string]>([
  ["no key", { items: { Keys: [] } }, "Member must have length greater than or equal to 1"],
  ["one key twice", { items: { Keys: [Key("a"), Key("a")] } }, "Provided list of item keys contains duplicates"],
  [
    "101 keys",
    {
      items: { Keys: Array.from({ length: 60 }, (_, i) => Key(String(i))) },
      others: { Keys: Array.from({ length: 41 }, (_, i) => Key(String(i))) },
    },
    "Too many items requested for the BatchGetItem call",
  ],
])("BatchGetItem refuses %s", async (_, RequestItems, message) => {
  await expect(database.client.batchGetItem({ RequestItems })).rejects.toThrow(message);
});
