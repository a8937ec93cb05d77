import { PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import type { RunHookStores, RunStats, Ticket } from "@nova/service";
import { describe, expect, test } from "vitest";
import { createRunHookStores } from "../../packages/aws/src/run-hook-stores.ts";
import frozen from "../fixtures/formats/lookout-1.json" with { type: "json" };
import { useTable } from "./support/endpoints.ts";

/** Records of run hooks with their stored items. Never regenerate this file. */
const { values, items } = frozen as unknown as {
  values: { stats: RunStats; ticket: Ticket; holder: string; month: string; usd: number };
  items: { pk: string; sk: string }[];
};
const { stats, ticket, holder, month, usd } = values;
const [pool = ""] = ticket.pools;
const range = { workflow: stats.workflowId, from: "2026", to: "2027" };
const node = { execution: ticket.execution, scope: "/each@1.0", seq: 2 };

async function readAll(stores: RunHookStores) {
  return {
    stats: (await Array.fromAsync(stores.stats.read(range)))[0],
    ticket: (await Array.fromAsync(stores.slots.waiting(pool)))[0],
    holder: (await stores.slots.taken(pool))[0],
    month,
    usd: await stores.spending.ofMonth(stats.client, month),
  };
}

describe("records of run hooks in format 1", () => {
  const table = useTable();

  test("can be read", async () => {
    for (const Item of items) await table.client.send(new PutCommand({ TableName: table.table, Item }));
    expect(await readAll(createRunHookStores(table))).toEqual(values);
  });

  test.each<[string, (stores: RunHookStores) => Promise<unknown>]>([
    ["figures", (stores) => Array.fromAsync(stores.stats.read(range))],
    ["a ticket", (stores) => Array.fromAsync(stores.slots.waiting(pool))],
    ["spendings", (stores) => stores.spending.ofMonth(stats.client, month)],
  ])("are refused in another format, with a way out (%s)", async (_what, read) => {
    for (const item of items) {
      await table.client.send(new PutCommand({ TableName: table.table, Item: { ...item, format: 2 } }));
    }
    await expect(read(createRunHookStores(table))).rejects.toThrow(/stored in format 2.*update NOVA/);
  });
});

describe("new records of run hooks", () => {
  const table = useTable();

  test("are stored in format 1", async () => {
    const stores = createRunHookStores(table);
    await stores.stats.put(stats);
    await stores.slots.enqueue(ticket);
    await stores.slots.take(pool, holder, "01KATESTTESTTESTTESTTESTT9", 1);
    await stores.spending.note(stats.client, month, node, usd);
    const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.table }));
    const sorted = Items.sort((a, b) => (`${a.pk}${a.sk}` < `${b.pk}${b.sk}` ? -1 : 1));
    expect(sorted).toEqual(items);
  });
});
