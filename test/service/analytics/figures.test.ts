import {
  type Execution,
  type Generation,
  generationId,
  type Head,
  readTrace,
  StoreUnavailable,
  type Trace,
  type TraceEntry,
} from "@nova/engine";
import { createOnExecutionEnded } from "@nova/service/run-hooks";
import { describe, expect, it, vi } from "vitest";
import {
  bareStatsOf,
  figuresOfRun,
  mergeFigures,
  roundDuration,
  savingsOf,
  shrinkToFit,
  statsOf,
} from "../../../packages/service/src/analytics/figures.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { simulate } from "../../support/engine/simulate.ts";

const code = (codeHash: string, usd: number) => ({ key: "k".repeat(64), codeHash, cost: { usd } }) as Generation;
const [first, second] = [code("a".repeat(64), 0.0203), code("b".repeat(64), 0.01)];

function saved(generation: string, { locked, kept = [] }: { locked?: Generation; kept?: Generation[] }) {
  const head = { workflow_id: "w", node_id: "n", client: "acme", cache_hit: true, generation } as Partial<Head>;
  // Each case has a separate workflow version, because NOVA caches costs by version.
  const workflow_version = Math.random();
  const ports = {
    workflows: { get: async () => ({ workflow: { lock: locked && { n: locked } } }) },
    generations: { of: async (_: string, __: string, client: string | null) => (client === null ? kept : []) },
  };
  return savingsOf(ports as never, { ...head, workflow_version } as Head);
}

describe("the saving of a run of pinned code", () => {
  it("is the cost of writing the code if the lock file of the workflow contains this code", async () => {
    expect(await saved(generationId(first), { locked: first, kept: [second] })).toBe(0.0203);
  });

  it("is the cost of writing the code that ran, even if NOVA stores other code under the same key", async () => {
    expect(await saved(generationId(second), { locked: first, kept: [first, second] })).toBe(0.01);
  });

  it("is 0 dollars if the code is no longer stored", async () => {
    expect(await saved(generationId(first), { locked: second })).toBe(0);
  });
});

it("the statistics of a node show the time of failed runs separately", () => {
  const run = (status: Head["status"], execution_time_ms: number) =>
    figuresOfRun({ head: { status, execution_time_ms } as Head, hash: "" }, 0);
  const all = [run("success", 10), run("failed", 30), run("failed", 40)].reduce(mergeFigures);
  expect(all).toMatchObject({ runs: 3, totalMs: 80, failedMs: 70 });
  expect(run("success", 10)).not.toHaveProperty("failedMs");
});

const nothing = { cost_usd: 0, tokens_input: 0, tokens_cached: 0, tokens_output: 0 };

/** Returns the statistics with rounded durations, as the table stores them. */
function asKept({ runs, failed, ms, failedMs, spent, hits }: SlowFigures) {
  const durations: Record<string, number> = {};
  for (const one of ms.map((each) => String(roundDuration(each)))) durations[one] = (durations[one] ?? 0) + 1;
  return { runs, failed, totalMs: ms.reduce((a, b) => a + b, 0), failedMs, durations, spent, hits };
}

it("the statistics of 150 random runs with branches, items and failures equal a simple count over the traces of these runs", {
  tags: ["deep"],
  timeout: 60_000,
}, async () => {
  const met = new Set<string>();
  for (let seed = 1; seed <= 150; seed++) {
    const { world } = await simulate(seed);
    const ports = world.ports(atOnce);
    for (const record of world.executions.records.values()) {
      const { nodes } = await statsOf(ports, record);
      const told = Object.entries(nodes).map(
        ([id, { spent = nothing, hits = 0, failedMs = 0, savedUsd: _, ...rest }]) => {
          for (const name of [spent.cost_usd > 0 && "spent", hits > 0 && "hits", ...Object.keys(rest.failed)])
            if (name) met.add(name);
          return [id, { ...rest, failedMs, spent, hits }];
        },
      );
      const slow = Object.entries(slowFigures(await readTrace(ports, record.id)));
      const expected = slow.map(([id, figures]) => [id, asKept(figures)]);
      expect(Object.fromEntries(told), `seed ${seed}`).toEqual(Object.fromEntries(expected));
    }
  }
  expect(Array.from(met)).toEqual(expect.arrayContaining(["spent", "hits", "NodeFailed", "ExecutionClosed"]));
});

/** Returns the hook that NOVA calls when a run has ended. The hook stores statistics with `put`. */
async function ending(put: (stats: { nodes: object }) => Promise<void>) {
  const { world } = await simulate(1);
  const record = world.executions.records.values().next().value as Execution;
  const warn = vi.fn();
  const gaveBack = vi.fn();
  const leaves = world.roots.leaves(atOnce);
  const ports = { ...world.ports(atOnce), stats: { put }, slots: { release: gaveBack }, leaves };
  const hook = createOnExecutionEnded(ports as unknown as Parameters<typeof createOnExecutionEnded>[0], warn);
  return { ends: () => hook(record), warn, record, pending: world.roots.pending };
}

it("a run that has ended becomes a leaf of the next tree of proofs, even if its statistics cannot be stored", async () => {
  const { ends, record, pending } = await ending(() => Promise.reject(new TypeError("too large")));
  await ends();
  await ends();
  const leaf = { execution: record.id, hash: record.tip, closedAt: record.endedAt };
  expect([...pending.values()]).toEqual([leaf]);
});

describe("the statistics of a run that ends", () => {
  it("are stored without the figures of the nodes if the store refuses the statistics with these figures", async () => {
    const stored: object[] = [];
    const { ends, warn } = await ending(async (stats) => {
      if (Object.keys(stats.nodes).length > 0) throw new TypeError("Item size has exceeded the maximum allowed size");
      stored.push(stats);
    });
    await ends();
    expect(stored).toMatchObject([{ nodes: {} }]);
    expect(warn).toHaveBeenCalledOnce();
  });

  it("do not prevent the end of the run if the store refuses the statistics with and without the figures of the nodes", async () => {
    const { ends, warn } = await ending(() => Promise.reject(new TypeError("Number is greater than MAX_SAFE_INTEGER")));
    await ends();
    expect(warn).toHaveBeenCalledTimes(2);
  });

  it("are stored by a later attempt if the store was unavailable", async () => {
    const { ends } = await ending(() => Promise.reject(new StoreUnavailable("DynamoDB did not answer")));
    await expect(ends()).rejects.toThrow(StoreUnavailable);
  });
});

describe("the statistics of a run", () => {
  it("fit into one item of the table, however many nodes ran", () => {
    const figures = { runs: 1, failed: {}, totalMs: 1, durations: { "1": 1 } };
    const nodes = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`node-${at}`, figures]));
    const record = { id: "exec_1", workflowId: "w", version: 1, client: "default", status: "completed" } as Execution;
    const fit = shrinkToFit({ ...bareStatsOf(record), nodes });
    expect(Buffer.byteLength(JSON.stringify(fit))).toBeLessThan(250_000);
    expect(fit.nodes["node-0"]).toEqual({ ...figures, durations: null });
  });
});

/** Counts the statistics of one node, run by run. */
interface SlowFigures {
  runs: number;
  failed: Record<string, number>;
  ms: number[];
  failedMs: number;
  spent: { cost_usd: number; tokens_input: number; tokens_cached: number; tokens_output: number };
  hits: number;
}

const notCounted = ["start", "end", "join", "close"];

/**
 * Counts the statistics of a run from its public trace as simply as possible, for a comparison with the service's
 * count.
 */
function slowFigures({ entries }: Pick<Trace, "entries">): Record<string, SlowFigures> {
  const figures: Record<string, SlowFigures> = {};
  for (const entry of flat(entries)) {
    if (notCounted.includes(entry.node_type)) continue;
    figures[entry.node_id] ??= {
      runs: 0,
      failed: {},
      ms: [],
      failedMs: 0,
      hits: 0,
      spent: { cost_usd: 0, tokens_input: 0, tokens_cached: 0, tokens_output: 0 },
    };
    add(figures[entry.node_id] as SlowFigures, entry);
  }
  return figures;
}

function add(figures: SlowFigures, { status, error_class, execution_time_ms, steps, ai_metadata }: TraceEntry): void {
  figures.runs++;
  figures.ms.push(execution_time_ms);
  if (status === "failed") figures.failedMs += execution_time_ms;
  if (status === "failed") figures.failed[error_class ?? ""] = (figures.failed[error_class ?? ""] ?? 0) + 1;
  if (ai_metadata?.cache_hit) figures.hits++;
  for (const step of steps) {
    for (const key of ["cost_usd", "tokens_input", "tokens_cached", "tokens_output"] as const) {
      figures.spent[key] = Math.round((figures.spent[key] + step[key]) * 1e9) / 1e9;
    }
  }
}

function flat(entries: readonly TraceEntry[]): TraceEntry[] {
  return entries.flatMap((entry) => [entry, ...(entry.branches ?? []).flatMap((branch) => flat(branch.entries))]);
}
