import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { createServiceStores } from "@nova/aws";
import { surveyAll } from "@nova/service";
import { expect, test } from "vitest";
import { knownFormats } from "../../packages/aws/src/formats.ts";
import { root } from "../support/imports.ts";
import { useTable } from "./support/endpoints.ts";

const table = useTable();
const samples = join(root, "test/fixtures/formats");

interface Sample {
  items?: Record<string, unknown>[];
}

/** Items of every frozen sample, of whatever format. */
const frozen = readdirSync(samples)
  .filter((name) => name.endsWith(".json"))
  .flatMap((name) => (JSON.parse(readFileSync(join(samples, name), "utf8")) as Sample).items ?? [])
  .filter((item) => "pk" in item);

test("knows every kind of item that the code writes", () => {
  const written = globSync(join(root, "packages/aws/src/**/*.ts")).flatMap((path) => {
    const text = readFileSync(path, "utf8");
    const named = text.matchAll(/record\(\s*"([\w-]+)"|partOf\(at, "([\w-]+)"/g);
    return Array.from(named, ([, mapped, plain]) => mapped ?? plain);
  });
  const byHand = ["rate", "slots"];
  expect(Object.keys(knownFormats).sort()).toEqual([...new Set([...written, ...byHand])].sort());
});

test("counts what is stored by kind and format, and reads every frozen sample", async () => {
  expect(frozen.length).toBeGreaterThan(10);
  for (const Item of frozen) await table.client.send(new PutCommand({ TableName: table.table, Item }));
  const stored = await surveyAll(createServiceStores(table));
  expect(stored.filter(({ state }) => state !== "current" && state !== "older")).toEqual([]);
  const kinds = new Set(frozen.map((item) => item.__edb_e__ ?? "slots"));
  expect(new Set(stored.map(({ entity }) => entity))).toEqual(kinds);
  const distinct = new Set(frozen.map(({ pk, sk }) => `${pk} ${sk}`));
  expect(stored.reduce((sum, { items }) => sum + items, 0)).toBe(distinct.size);
});

test.each([
  ["of a later release", { __edb_e__: "link", format: 2 }, "newer"],
  ["of no kind that is known", { __edb_e__: "wish", format: 1 }, "unknown"],
  ["a counter of requests", { pk: "R#key_1", format: 1 }, "current"],
  ["taken slots", { sk: "SLOTS", format: 1 }, "current"],
  ["without a format", { __edb_e__: "link" }, "unknown"],
])("tells what is %s", async (_what, item, state) => {
  await table.client.send(new PutCommand({ TableName: table.table, Item: { pk: "X", sk: "X", ...item } }));
  const stored = await surveyAll(createServiceStores(table));
  const { format = null } = item as { format?: number };
  expect(stored).toContainEqual({ entity: expect.any(String), format, items: 1, state });
});
