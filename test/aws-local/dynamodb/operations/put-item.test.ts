import type { AttributeValue, PutItemCommandInput } from "@aws-sdk/client-dynamodb";
import { describe, expect, test } from "vitest";
import { keySchema, tableInput, useDatabase } from "../support/database.ts";

const indexed = tableInput("items", ["pk", "S"], ["sk", "N"], ["group", "S"]);
const database = useDatabase({
  ...indexed,
  KeySchema: keySchema("pk", "sk"),
  GlobalSecondaryIndexes: [
    { IndexName: "by-group", KeySchema: keySchema("group"), Projection: { ProjectionType: "ALL" } },
  ],
});
const key = { pk: { S: "a" }, sk: { N: "1" } };

function put(attributes: Record<string, AttributeValue>, more: Partial<PutItemCommandInput> = {}) {
  return database.client.putItem({ TableName: "items", Item: { ...key, ...attributes }, ...more });
}

function nested(levels: number): AttributeValue {
  return levels === 0 ? { S: "leaf" } : { L: [nested(levels - 1)] };
}

test("PutItem stores every type unchanged, and all numbers exactly", async () => {
  const Item: Record<string, AttributeValue> = {
    ...key,
    s: { S: "é\u0000😀" },
    n: { N: "12345678901234567890.123456789012345678" },
    bool: { BOOL: false },
    null: { NULL: true },
    l: { L: [{ S: "" }, { L: [] }, { M: {} }] },
    m: { M: { "a.b": { S: "dot" }, constructor: { N: "1" } } },
    constructor: { S: "a name like any other" },
  };
  await database.client.putItem({ TableName: "items", Item });
  expect((await database.client.getItem({ TableName: "items", Key: key })).Item).toEqual(Item);
});

test("PutItem stores an attribute with the name __proto__", async () => {
  const item = '{"pk":{"S":"proto"},"sk":{"N":"1"},"__proto__":{"S":"kept"}}';
  await database.send("PutItem", `{"TableName":"items","Item":${item}}`);
  const { body } = await database.send("GetItem", '{"TableName":"items","Key":{"pk":{"S":"proto"},"sk":{"N":"1"}}}');
  expect(JSON.stringify(body.Item)).toBe(item);
});

describe("PutItem", () => {
  test("accepts an item whose size is exactly at the limits", async () => {
    const besides = Buffer.byteLength("pkaskbig") + 2;
    await put({ big: { S: "x".repeat(400 * 1024 - besides) } });
    await put({ deep: nested(32) });
    await database.client.putItem({ TableName: "items", Item: { ...key, pk: { S: "k".repeat(2048) } } });
  });

  test.each<[string, Record<string, AttributeValue>, string]>([
    ["an item of 400 KB and a byte", { big: { S: "x".repeat(400 * 1024) } }, "Item size has exceeded"],
    ["an item of 33 levels", { deep: nested(33) }, "Nesting Levels have exceeded supported limits"],
    ["a hash key of 2049 bytes", { pk: { S: "é".repeat(1025) } }, "Size of hashkey has exceeded"],
    ["an empty key", { pk: { S: "" } }, "cannot contain an empty string value. Key: pk"],
    ["a key of another type", { sk: { S: "1" } }, "Type mismatch for key sk expected: N actual: S"],
    ["an index key of another type", { group: { N: "1" } }, "Type mismatch for Index Key group Expected: S Actual: N"],
    ["an empty index key", { group: { S: "" } }, "IndexName: by-group, IndexKey: group"],
    ["an index key of 2049 bytes", { group: { S: "x".repeat(2049) } }, "Size of hashkey has exceeded"],
    ["a number of 39 digits", { x: { N: "1".repeat(39) } }, "more than 38 significant digits"],
    ["a set deep inside", { x: { M: { a: { L: [{ SS: ["x"] }] } } } }, "has no sets"],
  ])("refuses %s", async (_, attributes, message) => {
    await expect(put(attributes)).rejects.toMatchObject({
      name: "ValidationException",
      message: expect.stringContaining(message),
    });
  });

  test("refuses an item without its key", async () => {
    const refused = database.client.putItem({ TableName: "items", Item: { pk: { S: "a" } } });
    await expect(refused).rejects.toThrow("Missing the key sk in the item");
  });
});

test.each([
  ['{"TableName":"items","Item":{"pk":{}}}', "Supplied AttributeValue is empty"],
  ['{"TableName":"items","Item":{"pk":{"S":"a","N":"1"}}}', "more than one datatypes set"],
  ['{"TableName":"items","Item":{"pk":{"S":1}}}', "is not a String"],
  ['{"TableName":"items","Item":{"pk":{"B":"AAEC"}}}', "has no bytes - use a text"],
  ['{"TableName":"items","Item":{"pk":{"NULL":false}}}', "Null attribute value types must have the value of true"],
  ['{"TableName":"items"}', "Value null at 'item' failed to satisfy constraint: Member must not be null"],
  ['{"TableName":"it","Item":{}}', "TableName must be at least 3 characters long"],
  ['{"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}', "is not supported by the local DynamoDB - read the item"],
  ['{"TableName":"items","Item":{},"ReturnValues":"X"}', "Member must satisfy enum value set"],
  ['{"TableName":"items","Item":{},"ReturnValues":"ALL_NEW"}', "answers no item that is put or deleted"],
  ['{"TableName":"items","Item":{},"Expected":{}}', "use ConditionExpression"],
  ['{"TableName":', "not JSON"],
])("PutItem refuses the request %s", async (body, message) => {
  const answer = await database.send("PutItem", body);
  expect(answer.status).toBe(400);
  expect(answer.body.message).toContain(message);
});

test("the local DynamoDB refuses unknown tables and operations", async () => {
  const refused = database.client.putItem({ TableName: "other", Item: key });
  await expect(refused).rejects.toMatchObject({ name: "ResourceNotFoundException" });
  expect((await database.send("ExecuteStatement", "{}")).body.__type).toContain("UnknownOperationException");
});
