import { type Execution, StoreUnavailable } from "@nova/engine";
import { createOnExecutionEnded } from "@nova/service/run-hooks";
import { describe, expect, it, vi } from "vitest";
import { bareStatsOf, shrinkToFit } from "../../packages/service/src/analytics/figures.ts";
import { atOnce } from "../support/engine/scheduler.ts";
import { simulate } from "../support/engine/simulate.ts";

/** The hook after a run, with `put` as the store of statistics. */
async function ending(put: (stats: { nodes: object }) => Promise<void>) {
  const { world } = await simulate(1);
  const record = world.executions.records.values().next().value as Execution;
  const warn = vi.fn();
  const gaveBack = vi.fn();
  const ports = { ...world.ports(atOnce), stats: { put }, slots: { release: gaveBack } };
  const hook = createOnExecutionEnded(ports as unknown as Parameters<typeof createOnExecutionEnded>[0], warn);
  return { ends: () => hook(record), warn };
}

describe("statistics after a run", () => {
  it("are stored without the nodes if a store refuses them with nodes", async () => {
    const stored: object[] = [];
    const { ends, warn } = await ending(async (stats) => {
      if (Object.keys(stats.nodes).length > 0) throw new TypeError("Item size has exceeded the maximum allowed size");
      stored.push(stats);
    });
    await ends();
    expect(stored).toMatchObject([{ nodes: {} }]);
    expect(warn).toHaveBeenCalledOnce();
  });

  it("never keep a run open, even if no store accepts them", async () => {
    const { ends, warn } = await ending(() => Promise.reject(new TypeError("Number is greater than MAX_SAFE_INTEGER")));
    await ends();
    expect(warn).toHaveBeenCalledTimes(2);
  });

  it("are retried after an outage", async () => {
    const { ends } = await ending(() => Promise.reject(new StoreUnavailable("DynamoDB did not answer")));
    await expect(ends()).rejects.toThrow(StoreUnavailable);
  });
});

describe("the statistics of a run", () => {
  it("fit into an item, however many nodes ran", () => {
    const figures = { runs: 1, failed: {}, totalMs: 1, durations: { "1": 1 } };
    const nodes = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`node-${at}`, figures]));
    const record = { id: "exec_1", workflowId: "w", version: 1, client: "default", status: "completed" } as Execution;
    const fit = shrinkToFit({ ...bareStatsOf(record), nodes });
    expect(Buffer.byteLength(JSON.stringify(fit))).toBeLessThan(250_000);
    expect(fit.nodes["node-0"]).toEqual({ ...figures, durations: null });
  });
});
