import type { AttributeValue, QueryCommandInput } from "@aws-sdk/client-dynamodb";
import { beforeAll, describe, expect, test } from "vitest";
import { tableInput, useDatabase, used } from "../support/database.ts";

const database = useDatabase(
  tableInput("numbers", ["pk", "S"], ["sk", "N"]),
  tableInput("texts", ["pk", "S"], ["sk", "S"]),
  tableInput("single", ["pk", "S"]),
  tableInput("large", ["pk", "S"], ["sk", "N"]),
);
const ordered = ["-1E+20", "-99.5", "-1.5", "-1", "-0.1", "0", "0.001", "1", "1.5", "2", "10", "99.5", "1E+20"];
/** Sorted by UTF-8 bytes; UTF-16 would sort them in another order. */
const texts = ["A", "a", "a#1", "a#10", "a#2", "b", "é", "\uffee", "😀"];
const values: Record<string, AttributeValue> = {
  ":p": { S: "p" },
  ":q": { S: "q" },
  ":one": { N: "1.0" },
  ":low": { N: "-1" },
  ":high": { N: "2" },
  ":a": { S: "a" },
  ":prefix": { S: "a#" },
  ":empty": { S: "" },
  ":long": { S: "x".repeat(1025) },
};

beforeAll(async () => {
  const { client } = database;
  const put = (TableName: string, Item: Record<string, AttributeValue>) => client.putItem({ TableName, Item });
  for (const N of ordered.toReversed())
    await put("numbers", { pk: { S: "p" }, sk: { N }, even: { BOOL: N.length % 2 === 0 } });
  for (const S of texts.toReversed()) await put("texts", { pk: { S: "p" }, sk: { S } });
  for (const S of ["p", "pp"]) await put("single", { pk: { S } });
  for (let i = 0; i < 8; i++)
    await put("large", { pk: { S: "p" }, sk: { N: String(i) }, text: { S: "x".repeat(300_000) } });
});

function query(TableName: string, KeyConditionExpression: string, more: Partial<QueryCommandInput> = {}) {
  const expressions = `${KeyConditionExpression} ${more.FilterExpression ?? ""}`;
  const given = { TableName, KeyConditionExpression, ExpressionAttributeValues: used(expressions, values) };
  return database.client.query({ ...given, ...more });
}

async function sortKeys(table: string, condition: string, more?: Partial<QueryCommandInput>) {
  const { Items = [] } = await query(table, condition, more);
  return Items.map(({ sk }) => Object.values(sk as object)[0]);
}

describe("a DynamoDB query sorts the items of a partition", () => {
  test("by the value of numeric sort keys", async () => {
    expect((await sortKeys("numbers", "pk = :p")).map(Number)).toEqual(ordered.map(Number));
    expect(await sortKeys("numbers", "pk = :p", { ScanIndexForward: false, Limit: 1 })).toEqual(["1".padEnd(21, "0")]);
  });

  test("by the UTF-8 bytes of text sort keys", async () => {
    expect(await sortKeys("texts", "pk = :p")).toEqual(texts);
    expect(await sortKeys("texts", "pk = :p", { ScanIndexForward: false })).toEqual(texts.toReversed());
  });
});

describe("a DynamoDB query returns the items that match its key condition", () => {
  test.each([
    ["numbers", "pk = :p AND sk = :one", ["1"]],
    ["numbers", "pk = :p AND sk < :low", ["-100000000000000000000", "-99.5", "-1.5"]],
    ["numbers", "pk = :p AND sk <= :low AND pk = :q", null],
    ["numbers", "pk = :p AND sk BETWEEN :low AND :high", ["-1", "-0.1", "0", "0.001", "1", "1.5", "2"]],
    ["numbers", "(pk = :p) AND (sk > :high)", ["10", "99.5", "100000000000000000000"]],
    ["numbers", "sk >= :high AND pk = :p", ["2", "10", "99.5", "100000000000000000000"]],
    ["texts", "pk = :p AND begins_with(sk, :prefix)", ["a#1", "a#10", "a#2"]],
    ["texts", "pk = :p AND sk > :a AND begins_with(sk, :a)", null],
    ["texts", "pk = :q", []],
  ])("in the table %s: %s", async (table, condition, found) => {
    if (found) expect(await sortKeys(table, condition)).toEqual(found);
    else await expect(query(table, condition)).rejects.toThrow("Query key condition not supported");
  });
});

describe("the pages of a DynamoDB query", () => {
  test.each([true, false])("contain every item once, with ScanIndexForward %s", async (ScanIndexForward) => {
    const met: unknown[] = [];
    let ExclusiveStartKey: Record<string, AttributeValue> | undefined;
    do {
      const page = await query("numbers", "pk = :p", { Limit: 4, ScanIndexForward, ExclusiveStartKey });
      expect(page.Count).toBeLessThanOrEqual(4);
      met.push(...(page.Items ?? []).map(({ sk }) => Number(sk?.N)));
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
    const expected = ordered.map(Number);
    expect(met).toEqual(ScanIndexForward ? expected : expected.toReversed());
  });

  test("end with the item with which they reach a megabyte, even if a filter drops that item", async () => {
    const first = await query("large", "pk = :p", { ProjectionExpression: "sk" });
    expect(first).toMatchObject({ Count: 4, LastEvaluatedKey: { sk: { N: "3" } } });
    const second = await query("large", "pk = :p", {
      ExclusiveStartKey: first.LastEvaluatedKey,
      FilterExpression: "attribute_not_exists(#text)",
      ExpressionAttributeNames: { "#text": "text" },
    });
    expect(second).toMatchObject({ Count: 0, ScannedCount: 4, LastEvaluatedKey: { sk: { N: "7" } } });
  });

  test("report the number of all items that were read, and contain only the items that the filter accepts", async () => {
    const filter = { FilterExpression: "even = :even", Limit: 5 };
    const ExpressionAttributeValues = { ":p": { S: "p" }, ":even": { BOOL: true } };
    const page = await query("numbers", "pk = :p", { ...filter, ExpressionAttributeValues });
    expect(page).toMatchObject({ ScannedCount: 5, LastEvaluatedKey: { pk: { S: "p" }, sk: { N: "-0.1" } } });
    expect(page.Items?.every(({ even }) => even?.BOOL)).toBe(true);
    expect(page.Count).toBe(page.Items?.length);
  });
});

describe("a DynamoDB query is refused", () => {
  test.each<[string, string, Partial<QueryCommandInput>, string]>([
    ["numbers", "sk = :one", {}, "Query condition missed key schema element: pk"],
    ["numbers", "pk = :p AND even = :one", {}, "Query condition missed key schema element: sk"],
    ["numbers", "pk > :p", {}, "Query key condition not supported"],
    ["single", "pk = :p AND sk = :one", {}, "Query key condition not supported"],
    ["numbers", "pk = :one", {}, "Condition parameter type does not match schema type"],
    ["numbers", "pk = :empty", {}, "cannot contain an empty string value. Key: pk"],
    ["numbers", "pk = :p OR sk = :one", {}, "Invalid operator used in KeyConditionExpression: or"],
    ["numbers", "pk = :p AND sk <> :one", {}, "Invalid operator used in KeyConditionExpression: <>"],
    ["numbers", "pk = :p AND sk > pk", {}, "a key attribute must be compared with values"],
    ["numbers", "pk.a = :p", {}, "Key attributes must be scalars"],
    ["numbers", "pk = sk", {}, "a key attribute must be compared with values"],
    [
      "texts",
      "pk = :p AND sk = :long",
      {},
      "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
    ],
    ["numbers", "pk = :p", { FilterExpression: "sk > :one" }, "can only contain non-primary key attributes"],
    ["numbers", "pk = :p", { IndexName: "none" }, "The table does not have the specified index: none"],
    ["numbers", "pk = :p", { Limit: 0 }, "Member must have value greater than or equal to 1"],
    ["numbers", "pk = :p", { Select: "COUNT" }, "The parameter Select is not supported by the local DynamoDB"],
    ["numbers", "pk = :p", { ExclusiveStartKey: { pk: { S: "p" } } }, "The provided starting key is invalid"],
    ["numbers", "pk = :p", { ExclusiveStartKey: { pk: { S: "q" }, sk: { N: "1" } } }, "outside query boundaries"],
    [
      "numbers",
      "pk = :p AND sk > :one",
      { ExclusiveStartKey: { pk: { S: "p" }, sk: { N: "1" } } },
      "range key predicate",
    ],
  ])("in the table %s, with the condition %s and the parameters %j", async (table, condition, more, message) => {
    await expect(query(table, condition, more)).rejects.toMatchObject({
      name: "ValidationException",
      message: expect.stringContaining(message),
    });
  });

  test("if its condition is missing or is written in legacy parameters", async () => {
    await expect(database.client.query({ TableName: "numbers" })).rejects.toThrow("must be specified in the request");
    const answer = await database.send("Query", '{"TableName":"numbers","KeyConditions":{}}');
    expect(answer.body.message).toContain("use KeyConditionExpression");
  });
});
