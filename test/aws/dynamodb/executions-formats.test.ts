import { PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import type { Execution } from "@nova/engine";
import { expect, test } from "vitest";
import { createExecutionStore } from "../../../packages/aws/src/dynamodb/executions.ts";
import frozen from "../../fixtures/formats/child-1.json" with { type: "json" };
import { useTable } from "../support/endpoints.ts";

/** The execution of a child workflow with its stored item. Never regenerate this file. */
const { value, item } = frozen as unknown as { value: Execution; item: { pk: string; sk: string } };
const table = useTable();
const store = () => createExecutionStore(table, { ids: async function* () {} });

test("the execution of a child workflow can be read from format 1", async () => {
  await table.client.send(new PutCommand({ TableName: table.table, Item: item }));
  expect(await store().get(value.id)).toEqual(value);
});

test("the execution of a child workflow is stored in format 1", async () => {
  const other = { ...value, id: "exec_other" };
  expect(await store().create(other)).toBe(true);
  const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.table }));
  const written = Items.find(({ id }) => id === other.id);
  expect(written).toEqual(JSON.parse(JSON.stringify(item).replaceAll(value.id, other.id)));
});
