import type { AttributeValue, ReturnValue } from "@aws-sdk/client-dynamodb";
import { beforeEach, describe, expect, test } from "vitest";
import { keySchema, tableInput, useDatabase, used } from "../support/database.ts";

const database = useDatabase({
  ...tableInput("items", ["pk", "S"], ["group", "S"]),
  KeySchema: keySchema("pk"),
  GlobalSecondaryIndexes: [
    { IndexName: "by-group", KeySchema: keySchema("group"), Projection: { ProjectionType: "ALL" } },
  ],
});
const Key = { pk: { S: "a" } };
const item: Record<string, AttributeValue> = {
  ...Key,
  txt: { S: "t" },
  n: { N: "1.5" },
  letters: { L: [{ S: "a" }, { S: "b" }, { S: "c" }] },
  doc: { M: { a: { N: "1" }, below: { M: { parts: { L: [{ M: { k: { S: "v" } } }] } } } } },
};
const values: Record<string, AttributeValue> = {
  ":one": { N: "1" },
  ":s": { S: "new" },
  ":list": { L: [{ S: "d" }] },
  ":big": { N: "1".repeat(38) },
  ":empty": { S: "" },
  ":large": { S: "x".repeat(400 * 1024) },
};
const names = { "#group": "group", "#constructor": "constructor" };

beforeEach(async () => {
  await database.client.putItem({ TableName: "items", Item: item });
});

async function update(UpdateExpression: string, ReturnValues: ReturnValue = "UPDATED_NEW") {
  const { Attributes } = await database.client.updateItem({
    TableName: "items",
    Key,
    UpdateExpression,
    ReturnValues,
    ExpressionAttributeValues: used(UpdateExpression, values),
    ExpressionAttributeNames: used(UpdateExpression, names),
  });
  return Attributes;
}

describe("an update expression of DynamoDB", () => {
  test.each<[string, Record<string, AttributeValue>]>([
    ["SET n = :one", { n: { N: "1" } }],
    ["SET text2 = txt, txt = :s", { text2: { S: "t" }, txt: { S: "new" } }],
    ["SET doc.a = :s", { doc: { M: { a: { S: "new" } } } }],
    ["SET #constructor = :s", { constructor: { S: "new" } }],
    ["ADD n :one", { n: { N: "2.5" } }],
    ["ADD fresh :one", { fresh: { N: "1" } }],
    ["ADD doc.a :one", { doc: { M: { a: { N: "2" } } } }],
    ["set n = :one add fresh :one", { n: { N: "1" }, fresh: { N: "1" } }],
  ])("changes the attributes that it names: %s", async (expression, written) => {
    expect(await update(expression)).toEqual(written);
  });

  test.each<[string, Record<string, AttributeValue | undefined>]>([
    ["SET letters = :list", { letters: values[":list"] }],
    ["REMOVE doc.below", { doc: { M: { a: { N: "1" } } } }],
    ["REMOVE txt, n", { txt: undefined, n: undefined }],
    ["REMOVE nothing", {}],
  ])("leaves all attributes that it does not name unchanged: %s", async (expression, changes) => {
    const expected = Object.fromEntries(Object.entries({ ...item, ...changes }).filter(([, value]) => value));
    expect(await update(expression, "ALL_NEW")).toEqual(expected);
    expect((await database.client.getItem({ TableName: "items", Key })).Item).toEqual(expected);
  });
});

describe("an invalid update of a DynamoDB item", () => {
  test.each([
    ["SET", 'Invalid UpdateExpression: Syntax error; token: "<EOF>"'],
    ["PUT n = :one", 'Invalid UpdateExpression: Syntax error; token: "PUT"'],
    ["SET n = n + :one", 'Syntax error; token: "+"'],
    ["SET n = :one SET txt = :s", 'The "SET" section can only be used once in an update expression;'],
    ["SET n = :one, n = :one", "Two document paths overlap with each other"],
    ["SET doc.a = :one REMOVE doc", "Two document paths overlap with each other"],
    ["SET letters[0] = :one", "has no positions of lists"],
    ["SET n = sum(:one)", "Invalid function name; function: sum"],
    ["SET n = if_not_exists(n, :one)", "Invalid function name; function: if_not_exists"],
    ["SET letters = list_append(letters, :list)", "Invalid function name; function: list_append"],
    ["ADD txt :s", "operator: ADD, operand type: S"],
    ["DELETE n :one", 'Syntax error; token: "DELETE"'],
    ["SET name = :s", "reserved keyword: name"],
    ["SET pk = :s", "Cannot update attribute pk. This attribute is part of the key"],
    ["SET n = nothing", "refers to an attribute that does not exist in the item"],
    ["ADD txt :one", "An operand in the update expression has an incorrect data type"],
    ["SET nothing.a = :one", "The document path provided in the update expression is invalid for update"],
    ["REMOVE txt.a", "The document path provided in the update expression is invalid for update"],
    ["ADD n :big", "more than 38 significant digits"],
    ["SET #group = :one", "Type mismatch for Index Key group"],
    ["SET #group = :empty", "cannot contain an empty string value"],
    ["SET txt = :large", "Item size to update has exceeded the maximum allowed size"],
  ])("is refused, and leaves the item unchanged: %s", async (expression, message) => {
    await expect(update(expression)).rejects.toMatchObject({
      name: "ValidationException",
      message: expect.stringContaining(message),
    });
    expect((await database.client.getItem({ TableName: "items", Key })).Item).toEqual(item);
  });
});

test("UpdateItem returns the whole item, the changed attributes or nothing, as ReturnValues says", async () => {
  expect(await update("REMOVE nothing", "UPDATED_NEW")).toBeUndefined();
  expect(await update("SET fresh = :one", "ALL_NEW")).toEqual({ ...item, fresh: { N: "1" } });
  expect(await update("SET n = :one", "NONE")).toBeUndefined();
});

test("UpdateItem creates an item that does not exist, unless its condition requires the item", async () => {
  const plain = { TableName: "items", ReturnValues: "ALL_NEW" } as const;
  const made = await database.client.updateItem({ ...plain, Key: { pk: { S: "made" } } });
  expect(made.Attributes).toEqual({ pk: { S: "made" } });
  const refused = database.client.updateItem({
    ...plain,
    Key: { pk: { S: "other" } },
    ConditionExpression: "attribute_exists(pk)",
  });
  await expect(refused).rejects.toMatchObject({ name: "ConditionalCheckFailedException" });
});
