import { DeleteCommand, PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import type { Generation } from "@nova/engine";
import { describe, expect, test } from "vitest";
import { createGenerationStore } from "../../../packages/aws/src/dynamodb/generations.ts";
import frozen from "../../fixtures/formats/generations-1.json" with { type: "json" };
import twoStages from "../../fixtures/formats/generations-1-analysis.json" with { type: "json" };
import { useTable } from "../support/endpoints.ts";

/** A generation of two stages with its stored item. */
const behindAnalysis = twoStages as unknown as { value: Generation; item: { pk: string; sk: string } };

/** Generations with their stored items. Never regenerate this file. */
const { values, items } = frozen as unknown as {
  values: [Generation, Generation];
  items: { pk: string; sk: string }[];
};

describe("generations of format 1", () => {
  const table = useTable();

  test("can be read", async () => {
    for (const Item of items) await table.client.send(new PutCommand({ TableName: table.table, Item }));
    const store = createGenerationStore(table);
    expect(await store.ofWorkflow("bills")).toEqual(values);
    expect(await store.of("bills", "sum", null)).toEqual([values[0]]);
    expect(await store.of("bills", "sum", "acme")).toEqual([values[1]]);
  });

  test("are refused in another format, with a way out", async () => {
    for (const item of items)
      await table.client.send(new PutCommand({ TableName: table.table, Item: { ...item, format: 2 } }));
    await expect(createGenerationStore(table).ofWorkflow("bills")).rejects.toThrow(/stored in format 2.*update NOVA/);
  });
});

describe("a generation of two stages", () => {
  const table = useTable();

  test("is read from format 1 and stored in it", async () => {
    const { item: Item, value } = behindAnalysis;
    const store = createGenerationStore(table);
    await table.client.send(new PutCommand({ TableName: table.table, Item }));
    expect(await store.ofWorkflow("bills")).toEqual([value]);
    await table.client.send(new DeleteCommand({ TableName: table.table, Key: { pk: Item.pk, sk: Item.sk } }));
    await store.create(value);
    const { Items } = await table.client.send(new ScanCommand({ TableName: table.table }));
    expect(Items).toEqual([Item]);
  });
});

describe("new generations", () => {
  const table = useTable();

  test("are stored in format 1", async () => {
    const store = createGenerationStore(table);
    for (const value of values) await store.create(value);
    const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.table }));
    expect(Items.sort((a, b) => (`${a.pk}${a.sk}` < `${b.pk}${b.sk}` ? -1 : 1))).toEqual(items);
  });
});
