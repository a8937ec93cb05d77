import type { AttributeValue, ScanCommandInput } from "@aws-sdk/client-dynamodb";
import { beforeAll, expect, test } from "vitest";
import { keySchema, tableInput, useDatabase } from "../support/database.ts";

const database = useDatabase({
  ...tableInput("items", ["pk", "S"], ["sk", "N"], ["group", "S"]),
  KeySchema: keySchema("pk", "sk"),
  GlobalSecondaryIndexes: [
    { IndexName: "by-group", KeySchema: keySchema("group"), Projection: { ProjectionType: "KEYS_ONLY" } },
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

test("meets every item once, in no order to rely on", async () => {
  const found = await everyKey({ Limit: 7 });
  expect(found.toSorted()).toEqual(names.toSorted());
  expect(found).not.toEqual(names);
  expect(found).not.toEqual(names.toSorted());
});

test("divides a table between segments", async () => {
  const segments = await Promise.all(
    [0, 1, 2].map((Segment) => everyKey({ Segment, TotalSegments: 3, Limit: 5, ConsistentRead: true })),
  );
  expect(segments.flat().toSorted()).toEqual(names.toSorted());
  for (const segment of segments) expect(segment.length).toBeGreaterThan(0);
});

test("reads an index, which holds only the items that have its key", async () => {
  const found = await everyKey({ IndexName: "by-group", Limit: 3 });
  expect(found.toSorted()).toEqual(names.filter((_, i) => i % 2 === 0).toSorted());
});

test("filters by key attributes too", async () => {
  const page = await database.client.scan({
    TableName: "items",
    FilterExpression: "pk IN (:a, :b) AND n < :n",
    ExpressionAttributeValues: { ":a": { S: "p1" }, ":b": { S: "p30" }, ":n": { N: "10" } },
    ProjectionExpression: "n",
  });
  expect(page).toMatchObject({ Items: [{ n: { N: "1" } }], Count: 1, ScannedCount: 40 });
});

test.each<[Partial<ScanCommandInput>, string]>([
  [{ Segment: 1 }, "The TotalSegments parameter is required"],
  [{ TotalSegments: 2 }, "The Segment parameter is required"],
  [{ TotalSegments: 2, Segment: 2 }, "Segment: 2 is not less than TotalSegments: 2"],
  [{ IndexName: "by-group", ConsistentRead: true }, "Consistent reads are not supported on global secondary indexes"],
  [{ IndexName: "by-group", Select: "ALL_ATTRIBUTES" }, "its projection type is not ALL"],
  [{ IndexName: "by-group", ProjectionExpression: "n" }, "index by-group does not project [n]"],
  [{ ExclusiveStartKey: { pk: { S: "p1" } } }, "The provided key element does not match the schema"],
])("refuses %j", async (more, message) => {
  await expect(database.client.scan({ TableName: "items", ...more })).rejects.toThrow(message);
});

test("refuses a start key of another segment", async () => {
  const pages = [0, 1].map((Segment) =>
    database.client.scan({ TableName: "items", Segment, TotalSegments: 2, Limit: 1 }),
  );
  const [ExclusiveStartKey] = (await Promise.all(pages)).map(({ LastEvaluatedKey }) => LastEvaluatedKey);
  const refused = database.client.scan({ TableName: "items", Segment: 1, TotalSegments: 2, ExclusiveStartKey });
  await expect(refused).rejects.toThrow("Please use ExclusiveStartKey with correct Segment");
});
