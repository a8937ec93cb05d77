import { expect, it } from "vitest";
import { poolName, poolsOf, readPool } from "../../../packages/service/src/quotas/pools.ts";

it.each([
  ["W#invoice", { workflow: "invoice" }],
  ["C#acme", { client: "acme" }],
  ["P#invoice#acme", { workflow: "invoice", client: "acme" }],
  ["S", {}],
])("a pool can be read from its name: %s", (name, pool) => {
  expect([poolName(pool), readPool(name)]).toEqual([name, pool]);
});

it.each([
  ["no quota", undefined, undefined, []],
  ["no quota of runs", {}, { maxCostUsd: 1, retentionDays: 2 }, []],
  ["a quota of the workflow", { maxConcurrent: 1 }, undefined, ["W#invoice"]],
  ["a quota of the client", undefined, { maxConcurrent: 1 }, ["C#acme"]],
  [
    "all",
    { maxConcurrent: 3, maxConcurrentPerClient: 1 },
    { maxConcurrent: 2 },
    ["C#acme", "P#invoice#acme", "W#invoice"],
  ],
])("a run with %s counts in the pools of its quotas", (_what, ofWorkflow, ofClient, expected) => {
  const run = { workflow: "invoice", client: "acme", ofWorkflow, ofClient };
  expect(poolsOf(run)).toEqual(expected);
  expect(poolsOf({ ...run, atOnce: 20 })).toEqual([...expected, "S"]);
});
