import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import { describe, expect, test } from "vitest";
import { keySchema, tableInput, useDatabase } from "../support/database.ts";

const database = useDatabase();
const plain = tableInput("items", ["pk", "S"], ["sk", "N"]);
const global = (IndexName: string, ...keys: string[]) => ({
  IndexName,
  KeySchema: keySchema(...keys),
  Projection: { ProjectionType: "ALL" as const },
});

test("DescribeTable returns the definition with which a table was created, and CreateTable returns the status CREATING", async () => {
  const group = { AttributeName: "group", AttributeType: "S" } as const;
  const { TableDescription } = await database.client.createTable({
    ...plain,
    AttributeDefinitions: [...(plain.AttributeDefinitions ?? []), group],
    GlobalSecondaryIndexes: [global("by-group", "group", "sk")],
    Tags: [{ Key: "k", Value: "v" }],
  });
  expect(TableDescription?.TableStatus).toBe("CREATING");
  expect((await database.client.describeTable({ TableName: "items" })).Table).toMatchObject({
    TableName: "items",
    TableArn: expect.stringMatching(/^arn:aws:dynamodb:.*:table\/items$/),
    TableStatus: "ACTIVE",
    KeySchema: plain.KeySchema,
    BillingModeSummary: { BillingMode: "PAY_PER_REQUEST" },
    DeletionProtectionEnabled: false,
    GlobalSecondaryIndexes: [{ ...global("by-group", "group", "sk"), IndexStatus: "ACTIVE" }],
  });
});

test("ListTables returns tables page by page", async () => {
  for (const name of ["beta", "alpha"]) await database.client.createTable(tableInput(name, ["pk", "S"]));
  const first = await database.client.listTables({ Limit: 2 });
  expect(first).toMatchObject({ TableNames: ["alpha", "beta"], LastEvaluatedTableName: "beta" });
  const second = await database.client.listTables({ ExclusiveStartTableName: first.LastEvaluatedTableName });
  expect(second.TableNames).toEqual(["items"]);
  expect(second.LastEvaluatedTableName).toBeUndefined();
});

test("DescribeTable rejects unknown tables", async () => {
  await expect(database.client.describeTable({ TableName: "gone" })).rejects.toThrow("Table: gone not found");
});

describe("CreateTable refuses", () => {
  test("an existing table", async () => {
    await expect(database.client.createTable(plain)).rejects.toMatchObject({ name: "ResourceInUseException" });
  });

  const grouped = {
    ...plain,
    AttributeDefinitions: [
      ...(plain.AttributeDefinitions ?? []),
      { AttributeName: "group", AttributeType: "S" as const },
    ],
  };
  test.each<[string, Partial<CreateTableCommandInput>, string]>([
    ["a short name", { TableName: "it" }, "at least 3 characters long"],
    ["a name with a forbidden character", { TableName: "it$ms" }, "regular expression pattern: [a-zA-Z0-9_.-]+"],
    ["a billing mode with throughput", { BillingMode: "PROVISIONED" }, "use BillingMode PAY_PER_REQUEST"],
    [
      "throughput",
      { ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 } },
      "The parameter ProvisionedThroughput is not supported by the local DynamoDB - use BillingMode PAY_PER_REQUEST",
    ],
    ["an unknown key", { KeySchema: keySchema("pk", "other") }, "The key other is not defined in AttributeDefinitions"],
    ["a sort key alone", { KeySchema: keySchema("pk", "sk").slice(1) }, "the first KeySchemaElement is of type HASH"],
    ["a local index", { ...grouped, LocalSecondaryIndexes: [global("local", "pk", "group")] }, "use GlobalSecondary"],
    [
      "an index that does not project everything",
      {
        ...grouped,
        GlobalSecondaryIndexes: [{ ...global("one", "group"), Projection: { ProjectionType: "KEYS_ONLY" } }],
      },
      "use the ProjectionType ALL",
    ],
  ])("a table with %s", async (_, change, message) => {
    await expect(database.client.createTable({ ...plain, ...change })).rejects.toThrow(message);
  });
});
