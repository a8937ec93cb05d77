import { PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import type { ChainStore, Execution, Link, LinkId, StoredStep, WorkflowVersion } from "@nova/engine";
import { describe, expect, test } from "vitest";
import { createChainStore } from "../../packages/aws/src/dynamodb/chain/chain-store.ts";
import { createExecutionStore } from "../../packages/aws/src/dynamodb/executions.ts";
import { createWorkflowStore } from "../../packages/aws/src/dynamodb/versions.ts";
import frozen from "../fixtures/formats/dynamodb-1.json" with { type: "json" };
import { useBucket, useTable } from "./support/endpoints.ts";

/** Values with their stored items. Never regenerate this file. */
const { values, items } = frozen as unknown as {
  values: { links: ({ scope: string } & Link)[]; step: StoredStep; execution: Execution; version: WorkflowVersion };
  items: { pk: string; sk: string }[];
};
const ofStep: LinkId = { execution: "exec_01", scope: "", seq: 1 };
const bucket = useBucket();

describe("items of format 1", () => {
  const table = useTable();
  test("can be read", async () => {
    for (const Item of items) await table.client.send(new PutCommand({ TableName: table.table, Item }));
    const versions = createWorkflowStore(table, bucket);
    const chain = createChainStore(table);
    for (const scope of new Set(values.links.map((link) => link.scope))) {
      const links = (await Array.fromAsync(chain.links("exec_01", scope))).map((link) => ({ scope, ...link }));
      expect(links).toEqual(values.links.filter((link) => link.scope === scope));
    }
    expect(await chain.steps(ofStep)).toEqual([values.step]);
    expect(await createExecutionStore(table, versions).get("exec_01")).toEqual(values.execution);
    expect(await versions.latest("invoice")).toEqual(values.version);
  });

  test.each(["chain", "executions", "versions"])("are refused in another format, with a way out (%s)", async (what) => {
    for (const item of items) {
      await table.client.send(new PutCommand({ TableName: table.table, Item: { ...item, format: 2 } }));
    }
    const versions = createWorkflowStore(table, bucket);
    const read: Record<string, () => Promise<unknown>> = {
      chain: () => createChainStore(table).read(ofStep),
      executions: () => createExecutionStore(table, versions).get("exec_01"),
      versions: () => versions.get("invoice", 3),
    };
    await expect(read[what]?.()).rejects.toThrow(/stored in format 2.*update NOVA/);
  });
});

describe("new values", () => {
  const table = useTable();
  test("are stored in format 1", async () => {
    const versions = createWorkflowStore(table, bucket);
    await writeAll(createChainStore(table));
    await createExecutionStore(table, versions).create(values.execution);
    await versions.create(values.version);
    const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.table }));
    const sorted = Items.sort((a, b) => (`${a.pk}${a.sk}` < `${b.pk}${b.sk}` ? -1 : 1));
    expect(sorted).toEqual(items);
  });
});

async function writeAll(chain: ChainStore): Promise<void> {
  for (const { turn, entry, scope, seq } of values.links) {
    const at = { execution: "exec_01", scope, seq };
    if (turn) await chain.putTurn(at, turn, null);
    if (entry) await chain.putEntry(at, entry);
  }
  await chain.putStep(ofStep, values.step);
}
