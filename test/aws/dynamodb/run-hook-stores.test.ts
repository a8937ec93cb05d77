import { createServiceStores } from "@nova/aws";
import type { RunStats, ServiceStores } from "@nova/service";
import { beforeAll, describe, expect, test } from "vitest";
import { useBucket, useTable } from "../support/endpoints.ts";

const table = useTable();
const bucket = useBucket();
let stores: ServiceStores;

const node = { runs: 1, failed: {}, totalMs: 12, durations: { "12": 1 } };

function stats(execution: string, endedAt: string, more: Partial<RunStats> = {}): RunStats {
  return {
    format: 1,
    execution,
    workflowId: "invoice",
    version: 1,
    client: "acme",
    status: "completed",
    endedAt,
    durationMs: 20,
    nodes: { extract: node },
    ...more,
  };
}

beforeAll(async () => {
  stores = createServiceStores({ ...table, bucket });
  await stores.stats.put(stats("exec_1", "2026-11-01T00:00:00.000Z"));
  await stores.stats.put(stats("exec_2", "2026-11-02T12:00:00.000Z", { client: "globex" }));
  await stores.stats.put(stats("exec_3", "2026-11-03T23:59:59.999Z", { workflowId: "letter" }));
});

async function read(query: Parameters<ServiceStores["stats"]["read"]>[0]): Promise<string[]> {
  return (await Array.fromAsync(stores.stats.read(query))).map(({ execution }) => execution);
}

describe("the statistics of runs", () => {
  const [from, to] = ["2026-11-01T00:00:00.000Z", "2026-11-03T23:59:59.999Z"];

  test.each([
    ["of a workflow", { workflow: "invoice", from, to }, ["exec_1", "exec_2"]],
    ["of a client", { client: "acme", from, to }, ["exec_1", "exec_3"]],
    ["of a workflow for a client", { workflow: "invoice", client: "globex", from, to }, ["exec_2"]],
    ["from a given time on", { workflow: "invoice", from: "2026-11-01T00:00:00.001Z", to }, ["exec_2"]],
    ["up to a given time", { client: "acme", from, to: "2026-11-03T23:59:59.998Z" }, ["exec_1"]],
  ])("are read for a range of end times: %s", async (_what, query, expected) => {
    expect(await read(query)).toEqual(expected);
  });

  test("contain a run once, even if the run is written twice", async () => {
    await stores.stats.put(stats("exec_1", "2026-11-01T00:00:00.000Z"));
    const [first] = await Array.fromAsync(stores.stats.read({ workflow: "invoice", from, to }));
    expect(first).toEqual(stats("exec_1", "2026-11-01T00:00:00.000Z"));
    expect(await read({ workflow: "invoice", from, to })).toHaveLength(2);
  });
});

describe("the costs of a client in one month", () => {
  const at = { execution: "exec_1", scope: "", seq: 1 };

  test("are the sum of the highest cost that each node of the client's runs has reported", async () => {
    for (const usd of [0.1, 0.3, 0.2]) await stores.spending.note("acme", "2026-11", at, usd);
    await stores.spending.note("acme", "2026-11", { ...at, scope: "/each@1.0" }, 0.4);
    await stores.spending.note("acme", "2026-12", at, 5);
    await stores.spending.note("globex", "2026-11", at, 7);
    expect(await stores.spending.ofMonth("acme", "2026-11")).toBe(0.7);
    expect(await stores.spending.ofMonth("initech", "2026-11")).toBe(0);
  });
});

describe("the requests of an API key", () => {
  const window = { beginsAt: Date.parse("2026-11-22T00:00:10.000Z"), seconds: 10 };

  test("are counted and accepted up to the limit in each time window", async () => {
    const add = (count: number, at = window) => stores.rateStore.add({ id: "key_1", client: "acme" }, at, count, 100);
    expect([await add(60), await add(50), await add(40), await add(1)]).toEqual([true, false, true, false]);
    expect(await add(100, { ...window, beginsAt: window.beginsAt + 10_000 })).toBe(true);
  });
});
