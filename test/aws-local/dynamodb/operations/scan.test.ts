import type { AttributeValue, ScanCommandInput } from "@aws-sdk/client-dynamodb";
import { beforeAll, expect, test } from "vitest";
import { keySchema, tableInput, useDatabase } from "../support/database.ts";

const database = useDatabase({
  ...tableInput("items", ["pk", "S"], ["sk", "N"], ["group", "S"]),
  KeySchema: keySchema("pk", "sk"),
  GlobalSecondaryIndexes: [
    { IndexName: "by-group", KeySchema: keySchema("group"), Projection: { ProjectionType: "ALL" } },
  ],
});
const names = Array.from({ length: 40 }, (_, i) => `p${i}`);

beforeAll(async () => {
  for (const [i, pk] of names.entries()) {
    const Item = { pk: { S: pk }, sk: { N: "1" }, n: { N: String(i) }, ...(i % 2 === 0 && { group: { S: "even" } }) };
    await database.client.putItem({ TableName: "items", Item });
  }
});

async function everyKey(more: Partial<ScanCommandInput> = {}): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  let ExclusiveStartKey: Record<string, AttributeValue> | undefined;
  do {
    const page = await database.client.scan({ TableName: "items", ...more, ExclusiveStartKey });
    found.push(...(page.Items ?? []).map(({ pk }) => pk?.S));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return found;
}

test("a DynamoDB scan returns every item once, but not in the order of the keys", async () => {
  const found = await everyKey({ Limit: 7 });
  expect(found.toSorted()).toEqual(names.toSorted());
  expect(found).not.toEqual(names);
  expect(found).not.toEqual(names.toSorted());
});

test("a DynamoDB scan filters by key attributes and by other attributes", async () => {
  const page = await database.client.scan({
    TableName: "items",
    FilterExpression: "(pk = :a OR pk = :b) AND n < :n",
    ExpressionAttributeValues: { ":a": { S: "p1" }, ":b": { S: "p30" }, ":n": { N: "10" } },
    ProjectionExpression: "n",
  });
  expect(page).toMatchObject({ Items: [{ n: { N: "1" } }], Count: 1, ScannedCount: 40 });
});

test.each<[Partial<ScanCommandInput>, string]>([
  [{ TotalSegments: 2, Segment: 1 }, "The parameter Segment is not supported by the local DynamoDB"],
  [{ ReturnConsumedCapacity: "TOTAL" }, "The local DynamoDB consumes no capacity"],
  [{ IndexName: "by-group" }, "The local DynamoDB scans no index"],
  [{ ExclusiveStartKey: { pk: { S: "p1" } } }, "The provided key element does not match the schema"],
])("a DynamoDB scan refuses the parameters %j", async (more, message) => {
  await expect(database.client.scan({ TableName: "items", ...more })).rejects.toThrow(message);
});
