import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { beforeAll, expect, test } from "vitest";
import { tableInput, useDatabase } from "../support/database.ts";

const database = useDatabase(tableInput("items", ["pk", "S"]));
const Key = { pk: { S: "a" } };
const doc: AttributeValue = {
  M: { a: { N: "1" }, list: { L: [{ S: "0" }, { M: { k: { S: "v" }, j: { S: "w" } } }] } },
};

beforeAll(() => database.client.putItem({ TableName: "items", Item: { ...Key, n: { N: "1" }, doc } }));

async function get(ProjectionExpression: string) {
  return (await database.client.getItem({ TableName: "items", Key, ProjectionExpression })).Item;
}

test.each<[string, Record<string, AttributeValue>]>([
  ["n", { n: { N: "1" } }],
  ["n, pk", { n: { N: "1" }, pk: { S: "a" } }],
  ["doc.a", { doc: { M: { a: { N: "1" } } } }],
  ["doc.a, doc.list2", { doc: { M: { a: { N: "1" } } } }],
  ["absent, doc.absent, n.a", {}],
])("a ProjectionExpression of DynamoDB returns the attributes %s", async (paths, shown) => {
  expect(await get(paths)).toEqual(shown);
});

test.each([
  ["n, n", "Two document paths overlap with each other"],
  ["doc, doc.a", "path one: [doc], path two: [doc, a]"],
  ["n,", "Syntax error"],
  ["doc.l[0]", "has no positions of lists"],
  ["list", "reserved keyword: list"],
  ["", "The expression can not be empty;"],
  ["pk.a", "Key attributes must be scalars"],
])("a ProjectionExpression of DynamoDB is refused: %j", async (paths, message) => {
  await expect(get(paths)).rejects.toThrow(message);
});
