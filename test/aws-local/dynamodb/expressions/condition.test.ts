import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { beforeAll, describe, expect, test } from "vitest";
import { tableInput, useDatabase, used } from "../support/database.ts";

const database = useDatabase(tableInput("items", ["pk", "S"]));
const Key = { pk: { S: "a" } };
const item: Record<string, AttributeValue> = {
  ...Key,
  text: { S: "héllo" },
  n: { N: "1.5" },
  yes: { BOOL: true },
  nil: { NULL: true },
  list: { L: [{ S: "e0" }, { N: "1" }, { M: { k: { S: "v" } } }] },
  doc: { M: { a: { N: "1" }, "b.c": { S: "dot" }, deep: { M: { list: { L: [{ N: "9" }] } } } } },
};
const values: Record<string, AttributeValue> = {
  ":hello": { S: "héllo" },
  ":he": { S: "hé" },
  ":x": { S: "x" },
  ":v": { S: "v" },
  ":one": { N: "1" },
  ":n": { N: "15E-1" },
  ":nine": { N: "9" },
  ":yes": { BOOL: true },
  ":nil": { NULL: true },
  ":nines": { L: [{ N: "9.0" }] },
};
const names = { "#dot": "b.c", "#list": "list", "#name": "text" };

beforeAll(() => database.client.putItem({ TableName: "items", Item: item }));

/** Returns whether the item fulfils the condition. */
async function holds(condition: string): Promise<boolean> {
  const ExpressionAttributeValues = used(condition, values);
  const ExpressionAttributeNames = used(condition, names);
  try {
    await database.client.updateItem({
      TableName: "items",
      Key,
      ConditionExpression: condition,
      ExpressionAttributeValues,
      ExpressionAttributeNames,
    });
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === "ConditionalCheckFailedException") return false;
    throw error;
  }
}

describe("a condition on a DynamoDB item", () => {
  test.each([
    "#name = :hello",
    "n = :n",
    "n < :nine AND n > :one",
    "n <= :n and n >= :n",
    "n BETWEEN :one AND :nine",
    "absent <> :x",
    "n <> :hello",
    "yes = :yes",
    "nil = :nil",
    "doc.deep.#list = :nines",
    "doc.#dot <> doc.a",
    "attribute_exists(doc.a)",
    "attribute_not_exists(#list.a)",
    "begins_with(#name, :he)",
    "n = :one AND n = :nine OR n = :n",
    "n = :n OR n = :one AND n = :nine",
    "( n = :n )AND(yes=:yes)",
  ])("holds: %s", async (condition) => {
    expect(await holds(condition)).toBe(true);
  });
});

describe("a false condition on a DynamoDB item", () => {
  test.each([
    "#name = :he",
    "n = :hello",
    "absent = :x",
    "absent = gone",
    "absent < :one",
    "n < :hello",
    "n BETWEEN :n AND :n AND n = :one",
    "#name BETWEEN :one AND :nine",
    "attribute_exists(doc.a.b)",
    "begins_with(n, :he)",
    "(n = :n OR n = :one) AND n = :nine",
  ])("does not hold: %s", async (condition) => {
    expect(await holds(condition)).toBe(false);
  });
});

describe("an invalid condition on a DynamoDB item", () => {
  test.each([
    ["", "The expression can not be empty;"],
    ["n == :n", 'Syntax error; token: "=", near: "= = :n"'],
    ["n = :n AND", 'Syntax error; token: "<EOF>", near: "AND"'],
    ["n", 'Syntax error; token: "<EOF>", near: "n"'],
    ["(n = :n", 'Syntax error; token: "<EOF>"'],
    ["n = :n)", 'Syntax error; token: ")"'],
    ["n IN (:n)", 'Syntax error; token: "IN"'],
    ["NOT n = :n", "Attribute name is a reserved keyword; reserved keyword: NOT"],
    ["NOT (n = :n)", "Invalid function name; function: NOT"],
    ["contains(n, :n)", "Invalid function name; function: contains"],
    ["#list[1] = :n", "has no positions of lists"],
    ["name = :n", "Attribute name is a reserved keyword; reserved keyword: name"],
    ["doc.Status = :n", "Attribute name is a reserved keyword; reserved keyword: Status"],
    ["foo(n)", "Invalid function name; function: foo"],
    ["begins_with(n)", "Incorrect number of operands for operator or function; operator or function: begins_with"],
    ["size(n) > :one", "Invalid function name; function: size"],
    ["n = attribute_exists(yes)", "Invalid function name; function: attribute_exists"],
    ["attribute_exists(:n)", "Operator or function requires a document path; operator or function: attribute_exists"],
    ["yes < :yes", "Incorrect operand type for operator or function; operator: <, operand type: BOOL"],
    ["begins_with(n, :n)", "Incorrect operand type for operator or function; operator or function: begins_with"],
    ["n BETWEEN :nine AND :one", "upper bound to be greater than or equal to lower bound"],
    ["n BETWEEN :one AND :x", "The BETWEEN operator requires same data type"],
    ["n = :undefined", "attribute value used in expression is not defined; attribute value: :undefined"],
    ["#undefined = :n", "attribute name used in the document path is not defined; attribute name: #undefined"],
    [`n = :n AND ${"x".repeat(4100)} = :n`, "Expression size has exceeded the maximum allowed size"],
  ])("is refused: %s", async (condition, message) => {
    await expect(holds(condition)).rejects.toMatchObject({
      name: "ValidationException",
      message: expect.stringMatching(/^Invalid ConditionExpression: /),
    });
    await expect(holds(condition)).rejects.toThrow(message);
  });

  test.each([
    [{ ConditionExpression: "n = :n", ExpressionAttributeValues: { ":n": { N: "1" }, ":m": { N: "1" } } }, "{:m}"],
    [{ ConditionExpression: "attribute_exists(n)", ExpressionAttributeNames: { "#m": "m" } }, "keys: {#m}"],
    [{ ExpressionAttributeNames: { "#m": "m" } }, "keys: {#m}"],
    [{ ExpressionAttributeValues: { ":n": { N: "1" } } }, "keys: {:n}"],
    [{ ConditionExpression: "n = :n", ExpressionAttributeValues: {} }, "must not be empty"],
    [{ ConditionExpression: "n = :n", ExpressionAttributeValues: { n: { N: "1" } } }, 'Syntax error; key: "n"'],
    [{ ConditionExpression: "pk.a = :n", ExpressionAttributeValues: { ":n": { N: "1" } } }, "must be scalars"],
    [{ ConditionExpression: "n = :n", ExpressionAttributeValues: { ":n": { SS: ["x"] } } }, "has no sets"],
  ])("is refused in the request %j", async (expressions, message) => {
    await expect(database.client.deleteItem({ TableName: "items", Key, ...expressions })).rejects.toThrow(message);
  });
});
