import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { createServiceStores } from "@nova/aws";
import { surveyAll } from "@nova/service";
import { expect, test } from "vitest";
import { itemKinds } from "../../packages/aws/src/formats.ts";
import { root } from "../support/imports.ts";
import { useTable } from "./support/endpoints.ts";

const table = useTable();
const samples = join(root, "test/fixtures/formats");

interface Sample {
  items?: Record<string, unknown>[];
}

/** Items of every frozen sample. */
const frozen = readdirSync(samples)
  .filter((name) => name.endsWith(".json"))
  .flatMap((name) => (JSON.parse(readFileSync(join(samples, name), "utf8")) as Sample).items ?? [])
  .filter((item) => "pk" in item);

test("the format survey knows every kind of item that the code writes", () => {
  const written = globSync(join(root, "packages/aws/src/**/*.ts")).flatMap((path) => {
    const text = readFileSync(path, "utf8");
    const named = text.matchAll(/record\(\s*"([\w-]+)"|commonValues\(at, "([\w-]+)"/g);
    return Array.from(named, ([, mapped, plain]) => mapped ?? plain);
  });
  const byHand = ["rate", "slots"];
  expect([...itemKinds].sort()).toEqual([...new Set([...written, ...byHand])].sort());
});

test("the format survey counts the stored items by kind and format, and can read every frozen sample", async () => {
  expect(frozen.length).toBeGreaterThan(10);
  for (const Item of frozen) await table.client.send(new PutCommand({ TableName: table.table, Item }));
  const stored = await surveyAll(createServiceStores(table));
  expect(stored.filter(({ state }) => state !== "current")).toEqual([]);
  const kinds = new Set(frozen.map((item) => item.__edb_e__ ?? "slots"));
  expect(new Set(stored.map(({ entity }) => entity))).toEqual(kinds);
  const distinct = new Set(frozen.map(({ pk, sk }) => `${pk} ${sk}`));
  expect(stored.reduce((sum, { items }) => sum + items, 0)).toBe(distinct.size);
});

test.each([
  ["an item of a newer format", { __edb_e__: "link", format: 2 }, "newer"],
  ["an item of an unknown kind", { __edb_e__: "wish", format: 1 }, "unknown"],
  ["a request counter", { pk: "R#key_1", format: 1 }, "current"],
  ["an item of taken slots", { sk: "SLOTS", format: 1 }, "current"],
  ["an item without a format", { __edb_e__: "link" }, "unknown"],
])("the format survey classifies %s", async (_what, item, state) => {
  await table.client.send(new PutCommand({ TableName: table.table, Item: { pk: "X", sk: "X", ...item } }));
  const stored = await surveyAll(createServiceStores(table));
  const { format = null } = item as { format?: number };
  expect(stored).toContainEqual({ entity: expect.any(String), format, items: 1, state });
});
