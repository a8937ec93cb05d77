import {
  costReports,
  errorReports,
  type NodeFigures,
  nodeReports,
  type RunStats,
  statsWithin,
  workflowReports,
} from "@nova/service";
import { describe, expect, it } from "vitest";

const spent = { cost_usd: 0.1, tokens_input: 100, tokens_cached: 20, tokens_output: 10 };

function node(ms: number[], more: Partial<NodeFigures> = {}): NodeFigures {
  const durations = Object.fromEntries(ms.map((one) => [String(one), ms.filter((other) => other === one).length]));
  return { runs: ms.length, failed: {}, totalMs: ms.reduce((a, b) => a + b, 0), durations, ...more };
}

function run(workflowId: string, endedAt: string, more: Partial<RunStats> = {}): RunStats {
  return {
    format: 1,
    execution: `exec_${endedAt}`,
    workflowId,
    version: 1,
    client: "acme",
    status: "completed",
    endedAt,
    durationMs: 1000,
    nodes: {},
    ...more,
  };
}

async function* these(...runs: RunStats[]) {
  yield* runs;
}

describe("the statistics of runs", () => {
  it("show for a workflow how its runs ended, how long they took, and what they cost", async () => {
    const failed = { status: "failed", durationMs: 3000 } as const;
    const runs = these(
      run("b", "2026-11-01", failed),
      run("a", "2026-11-01", { nodes: { x: node([5], { spent }), y: node([5], { spent }) } }),
      ...Array.from({ length: 18 }, () => run("b", "2026-11-02")),
      run("b", "2026-11-03", { status: "cancelled", durationMs: 2000 }),
    );
    expect(await workflowReports(runs)).toEqual([
      expect.objectContaining({ workflow: "a", runs: 1, cost_usd: 0.2 }),
      {
        workflow: "b",
        runs: 20,
        success_rate: 0.9,
        mean_ms: 1150,
        p50_ms: 1000,
        p95_ms: 2000,
        cost_usd: 0,
        completed: 18,
        failed: 1,
        cancelled: 1,
        interrupted: 0,
      },
    ]);
  });

  it("show for a node the mean duration and the 95th percentile of the durations", async () => {
    const runs = these(
      run("a", "2026-11-01", { nodes: { x: node(Array.from({ length: 94 }, () => 10)) } }),
      run("a", "2026-11-02", {
        nodes: { x: node([40, 50, 60, 70, 80, 90], { failed: { NodeFailed: 2 }, failedMs: 170 }) },
      }),
    );
    const [x] = await nodeReports(runs);
    expect(x).toMatchObject({
      workflow: "a",
      node: "x",
      runs: 100,
      mean_ms: 13.3,
      mean_success_ms: (1330 - 170) / 98,
      p95_ms: 40,
      failed: 2,
      success_rate: 0.98,
    });
  });

  it("show no mean duration of successful runs for a node that never succeeded", async () => {
    const runs = these(
      run("a", "2026-11-01", { nodes: { x: node([10], { failed: { NodeFailed: 1 }, failedMs: 10 }) } }),
    );
    expect(await nodeReports(runs)).toMatchObject([{ mean_ms: 10, mean_success_ms: null }]);
  });

  it("show no percentile for a node if the durations of one run are missing", async () => {
    const runs = these(
      run("a", "2026-11-01", { nodes: { x: node([10], { durations: null }) } }),
      run("a", "2026-11-02", { nodes: { x: node([10]) } }),
    );
    expect(await nodeReports(runs)).toMatchObject([{ runs: 2, mean_ms: 10, p95_ms: null }]);
  });

  it("show how often each error class occurred in each workflow, the most frequent first", async () => {
    const runs = these(
      run("a", "2026-11-01", { nodes: { x: node([1], { failed: { NodeFailed: 1, NodeTimeout: 3 } }) } }),
      run("b", "2026-11-01", { nodes: { x: node([1], { failed: { NodeFailed: 2 } }) } }),
    );
    const told = (await errorReports(runs)).map(({ workflow, class: name, count }) => `${workflow} ${name} ${count}`);
    expect(told).toEqual(["a NodeTimeout 3", "b NodeFailed 2", "a NodeFailed 1"]);
  });

  it("show the dollars, tokens and savings of each workflow by day, without days that have no costs and no savings", async () => {
    const runs = these(
      run("a", "2026-11-02T01:00:00.000Z", { nodes: { x: node([1], { hits: 1, savedUsd: 0.1 }) } }),
      run("a", "2026-11-01T01:00:00.000Z", { nodes: { x: node([1], { spent }), y: node([1], { spent }) } }),
      run("a", "2026-11-01T23:00:00.000Z", { nodes: { x: node([1], { spent, hits: 2, savedUsd: 0.2 }) } }),
      run("b", "2026-11-01T23:00:00.000Z", { nodes: { x: node([1]) } }),
    );
    expect(await costReports(runs)).toMatchObject([
      { day: "2026-11-01", workflow: "a", cost_usd: 0.3, tokens_input: 300, cache_hits: 2, saved_usd: 0.2 },
      { day: "2026-11-02", workflow: "a", cost_usd: 0, cache_hits: 1, saved_usd: 0.1 },
    ]);
  });
});

describe("the statistics for an API key", () => {
  const range = { from: "2026-11-01", to: "2026-11-30" };
  const asked: object[] = [];
  const ports = {
    stats: {
      read(query: object) {
        asked.push(query);
        return these();
      },
    },
    workflows: {
      async *ids() {
        yield* ["a", "b"];
      },
    },
  };

  it.each([
    ["for all clients cover every workflow", null, {}, [{ workflow: "a" }, { workflow: "b" }]],
    ["for all clients can cover one client", null, { client: "acme" }, [{ client: "acme" }]],
    ["for one client cover the runs of this client", "acme", {}, [{ client: "acme" }]],
    ["for one client can cover one workflow", "acme", { workflow: "a" }, [{ workflow: "a", client: "acme" }]],
    ["for one client show no other client", "globex", { client: "acme" }, []],
    ["are empty for a range whose end is before its start", null, { to: "2026-10-01" }, []],
  ])("%s", async (_what, client, query, expected) => {
    asked.length = 0;
    const by = { id: "key_1", role: "viewer", name: "", client } as const;
    for await (const _ of statsWithin(ports as never, by, { ...range, ...query })) throw new TypeError("there is none");
    expect(asked).toEqual(expected.map((one) => ({ ...range, ...one })));
  });
});
