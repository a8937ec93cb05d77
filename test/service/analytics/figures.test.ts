import { type Generation, generationId, type Head } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { figuresOfRun, mergeFigures, savingsOf } from "../../../packages/service/src/analytics/figures.ts";

const code = (codeHash: string, usd: number) => ({ key: "k".repeat(64), codeHash, cost: { usd } }) as Generation;
const [first, second] = [code("a".repeat(64), 0.0203), code("b".repeat(64), 0.01)];

function saved(generation: string, { locked, kept = [] }: { locked?: Generation; kept?: Generation[] }) {
  const head = { workflow_id: "w", node_id: "n", client: "acme", cache_hit: true, generation } as Partial<Head>;
  // Costs are cached by workflow version, so each case has its own version.
  const workflow_version = Math.random();
  const ports = {
    workflows: { get: async () => ({ workflow: { lock: locked && { n: locked } } }) },
    generations: { of: async (_: string, __: string, client: string | null) => (client === null ? kept : []) },
  };
  return savingsOf(ports as never, { ...head, workflow_version } as Head);
}

describe("a run of pinned code", () => {
  it("saves the cost of its locked code", async () => {
    expect(await saved(generationId(first), { locked: first, kept: [second] })).toBe(0.0203);
  });

  it("saves the cost of its stored code, even if several codes have one key", async () => {
    expect(await saved(generationId(second), { locked: first, kept: [first, second] })).toBe(0.01);
  });

  it("saves no known amount if its code is gone", async () => {
    expect(await saved(generationId(first), { locked: second })).toBe(0);
  });
});

it("statistics keep the time of failed runs separately", () => {
  const run = (status: Head["status"], execution_time_ms: number) =>
    figuresOfRun({ head: { status, execution_time_ms } as Head, hash: "" }, 0);
  const all = [run("success", 10), run("failed", 30), run("failed", 40)].reduce(mergeFigures);
  expect(all).toMatchObject({ runs: 3, totalMs: 80, failedMs: 70 });
  expect(run("success", 10)).not.toHaveProperty("failedMs");
});
