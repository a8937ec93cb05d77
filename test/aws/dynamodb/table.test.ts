import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { createTable } from "@nova/aws";
import { expect, test } from "vitest";
import { tableDefinition } from "../../../packages/aws/src/dynamodb/table-definition.ts";
import { useTable } from "../support/endpoints.ts";

const table = useTable();

test("createTable creates the table that the definition describes", async () => {
  await createTable(table.client, "fresh");
  const { Table } = await table.client.send(new DescribeTableCommand({ TableName: "fresh" }));
  expect(Table).toMatchObject({ TableStatus: "ACTIVE", BillingModeSummary: { BillingMode: "PAY_PER_REQUEST" } });
  const keys = ({ KeySchema = [] }: { KeySchema?: { AttributeName: string | undefined }[] | undefined }) =>
    KeySchema.map(({ AttributeName }) => AttributeName);
  expect(keys(Table ?? {})).toEqual([tableDefinition.partitionKey, tableDefinition.sortKey]);
  const indexes = new Map(Table?.GlobalSecondaryIndexes?.map((index) => [index.IndexName, keys(index)]));
  expect(indexes).toEqual(
    new Map(tableDefinition.indexes.map((index) => [index.name, [index.partitionKey, index.sortKey]])),
  );
});

test("createTable succeeds if the table exists, even if two processes call it at the same time", async () => {
  await Promise.all([createTable(table.client, "twice"), createTable(table.client, "twice")]);
  await createTable(table.client, "twice");
  expect(table.operations.filter((operation) => !["CreateTable", "DescribeTable"].includes(operation))).toEqual([]);
});
