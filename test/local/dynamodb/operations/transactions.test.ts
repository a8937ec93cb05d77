import type { TransactWriteItem } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import { tableInput, useDatabase } from "../support/database.ts";

const database = useDatabase(tableInput("items", ["pk", "S"]), tableInput("counters", ["pk", "S"]));
const Key = (S: string) => ({ pk: { S } });
const put = (S: string, more = {}): TransactWriteItem => ({
  Put: { TableName: "items", Item: { ...Key(S), v: { S: "x" } }, ...more },
});
const count = (S: string, by = "1"): TransactWriteItem => ({
  Update: {
    TableName: "counters",
    Key: Key(S),
    UpdateExpression: "ADD n :by",
    ExpressionAttributeValues: { ":by": { N: by } },
  },
});
const write = (...TransactItems: TransactWriteItem[]) => database.client.transactWriteItems({ TransactItems });
const get = async (TableName: string, S: string) => (await database.client.getItem({ TableName, Key: Key(S) })).Item;

test("does all actions at once", async () => {
  await write(put("gone"));
  const { ConsumedCapacity } = await database.client.transactWriteItems({
    TransactItems: [put("a"), count("a"), { Delete: { TableName: "items", Key: Key("gone") } }],
    ReturnConsumedCapacity: "TOTAL",
  });
  expect(ConsumedCapacity).toMatchObject([
    { TableName: "items", CapacityUnits: 4 },
    { TableName: "counters", CapacityUnits: 2 },
  ]);
  expect([await get("items", "a"), await get("counters", "a"), await get("items", "gone")]).toEqual([
    { ...Key("a"), v: { S: "x" } },
    { ...Key("a"), n: { N: "1" } },
    undefined,
  ]);
});

test("does nothing where one cannot be done, and says why for each", async () => {
  await write(put("there"));
  const unless = { ConditionExpression: "attribute_not_exists(pk)", ReturnValuesOnConditionCheckFailure: "ALL_OLD" };
  const check: TransactWriteItem = {
    ConditionCheck: { TableName: "items", Key: Key("absent"), ConditionExpression: "attribute_exists(pk)" },
  };
  await database.client.putItem({ TableName: "counters", Item: { ...Key("text"), n: { S: "one" } } });
  await expect(write(put("fresh"), put("there", unless), check, count("text"))).rejects.toMatchObject({
    name: "TransactionCanceledException",
    message: expect.stringMatching(/\[None, ConditionalCheckFailed, ConditionalCheckFailed, ValidationError\]$/),
    CancellationReasons: [
      { Code: "None" },
      { Code: "ConditionalCheckFailed", Message: "The conditional request failed", Item: Key("there") },
      { Code: "ConditionalCheckFailed" },
      { Code: "ValidationError", Message: expect.stringContaining("incorrect data type") },
    ],
  });
  expect(await get("items", "fresh")).toBeUndefined();
});

test("does the same request twice only once", async () => {
  const TransactItems = [count("once")];
  const request = { TransactItems, ClientRequestToken: "token-1" };
  await database.client.transactWriteItems(request);
  await database.client.transactWriteItems(request);
  expect((await get("counters", "once"))?.n).toEqual({ N: "1" });
  const other = database.client.transactWriteItems({ ...request, TransactItems: [count("once", "2")] });
  await expect(other).rejects.toMatchObject({ name: "IdempotentParameterMismatchException" });
});

test("forgets the token of a transaction that was cancelled", async () => {
  const unless = { ConditionExpression: "attribute_exists(v)" };
  const request = { TransactItems: [put("later", unless)], ClientRequestToken: "token-2" };
  await expect(database.client.transactWriteItems(request)).rejects.toThrow("ConditionalCheckFailed");
  await write(put("later"));
  await database.client.transactWriteItems(request);
});

test("reads several items, each as far as it is asked for", async () => {
  await write(put("r1"), put("r2"));
  const { Responses, ConsumedCapacity } = await database.client.transactGetItems({
    TransactItems: [
      { Get: { TableName: "items", Key: Key("r1") } },
      { Get: { TableName: "items", Key: Key("absent") } },
      { Get: { TableName: "items", Key: Key("r2"), ProjectionExpression: "v" } },
    ],
    ReturnConsumedCapacity: "TOTAL",
  });
  expect(Responses).toEqual([{ Item: { ...Key("r1"), v: { S: "x" } } }, {}, { Item: { v: { S: "x" } } }]);
  expect(ConsumedCapacity).toMatchObject([{ TableName: "items", CapacityUnits: 6 }]);
});

test.each<[string, TransactWriteItem[], string]>([
  ["no action", [], "Member must have length greater than or equal to 1"],
  ["an action of no kind", [{}], "TransactItems can only contain one of Check, Put, Update or Delete"],
  ["an item twice", [put("a"), { Delete: { TableName: "items", Key: Key("a") } }], "multiple operations on one item"],
  ["101 actions", Array.from({ length: 101 }, (_, i) => put(String(i))), "less than or equal to 100"],
  ["an unknown table", [put("a", { TableName: "unknown" })], "Requested resource not found"],
  [
    "more than 4 MB",
    Array.from({ length: 11 }, (_, i) => put("", { Item: { ...Key(`${i}`), v: { S: "x".repeat(400_000) } } })),
    "Collective item sizes in the transaction cannot exceed 4MB",
  ],
])("refuses %s", async (_, actions, message) => {
  await expect(write(...actions)).rejects.toThrow(message);
});
