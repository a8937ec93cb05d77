import type { Generation } from "@nova/engine";
import { describe, expect, it } from "vitest";
import type { Recorded } from "../../../packages/cli/src/api/recorded.ts";
import { costsOf } from "../../../packages/cli/src/lock/costs.ts";
import { cost, generationOf, lockedOf, locking, makeFolder, promptOf } from "./folders.ts";

function runs(node: string, ...hits: boolean[]): Recorded[] {
  return hits.map((cache_hit) => ({ entry: { node_id: node, ai_metadata: { cache_hit } } }) as unknown as Recorded);
}

const dear = { usd: 0.01, tokens_input: 5000, tokens_cached: 0, tokens_output: 900 };

describe("the costs that nova lock --costs shows for a node", () => {
  it("include all code that was written for the node, and show the savings of runs that reused code", async () => {
    const folder = await makeFolder();
    const generations: Partial<Generation>[] = [
      { status: "replaced", cost: dear, code: "a" },
      { code: "b" },
      { node: "x" },
    ];
    const [costs] = costsOf(
      folder,
      generations.map((fields) => generationOf(promptOf(folder), fields)),
      [...runs("sum", false, true, true, false), ...runs("other", true)],
    );
    expect(costs).toEqual({
      node: "sum",
      generations: 2,
      runs: 4,
      hits: 2,
      written: { usd: 0.012, tokens_input: 5900, tokens_cached: 400, tokens_output: 1000 },
      saved_per_run: cost,
      saved_usd: 0.004,
      break_even_runs: 6,
    });
  });

  it("include locked code that another machine wrote", async () => {
    const made = await makeFolder();
    const folder = await locking(made, { sum: lockedOf(promptOf(made), { cost: dear }) });
    expect(costsOf(folder, [], [])).toMatchObject([
      { generations: 1, written: dear, saved_per_run: dear, break_even_runs: 1 },
    ]);
    const kept = [generationOf(promptOf(made), { cost: dear })];
    expect(costsOf(folder, kept, [])).toMatchObject([{ generations: 1, written: dear }]);
  });

  it("include the cost of a failed run, unless its code is stored with this cost", async () => {
    const folder = await makeFolder();
    const { usd: cost_usd, ...tokens } = dear;
    const failed = (code_hash: string) =>
      ({
        entry: { node_id: "sum", status: "failed", code_hash, ai_metadata: { cache_hit: false, cost_usd, ...tokens } },
      }) as unknown as Recorded;
    const kept = generationOf(promptOf(folder));
    const [costs] = costsOf(folder, [kept], [failed("other"), failed(kept.codeHash), ...runs("sum", false)]);
    expect(costs).toMatchObject({ generations: 1, runs: 3, written: { usd: cost.usd + dear.usd } });
    expect(costsOf(folder, [], [failed("other")])).toMatchObject([{ generations: 0, written: dear }]);
  });

  it("include the cost of writing the same code for a second time", async () => {
    const folder = await makeFolder();
    const kept = generationOf(promptOf(folder));
    const wrote = ({ usd: cost_usd, ...tokens }: typeof cost) =>
      ({
        entry: {
          node_id: "sum",
          status: "success",
          code_hash: kept.codeHash,
          ai_metadata: { cache_hit: false, cost_usd, ...tokens },
        },
      }) as unknown as Recorded;
    expect(costsOf(folder, [kept], [wrote(cost)])).toMatchObject([{ generations: 1, written: cost }]);
    const [twice] = costsOf(folder, [kept], [wrote(dear), wrote(cost), ...runs("sum", true)]);
    expect(twice).toMatchObject({ generations: 2, hits: 1, written: { usd: cost.usd + dear.usd } });
  });

  it("do not include code that the user edited", async () => {
    const made = await makeFolder();
    const folder = await locking(made, { sum: { ...lockedOf(promptOf(made), { code: "a" }), origin: "edited" } });
    const generations = [generationOf(promptOf(made))];
    expect(costsOf(folder, generations, [])).toMatchObject([{ generations: 1, written: cost, saved_per_run: cost }]);
  });

  it("do not include the number of runs after which the code pays off if the code cost nothing, or if no model wrote code", async () => {
    const folder = await makeFolder();
    const free = { usd: 0, tokens_input: 900, tokens_cached: 0, tokens_output: 100 };
    const generations = [generationOf(promptOf(folder), { cost: free })];
    expect(costsOf(folder, generations, runs("sum", true))).toMatchObject([{ break_even_runs: null, saved_usd: 0 }]);
    expect(costsOf(folder, [], [])).toMatchObject([{ generations: 0, break_even_runs: null }]);
  });

  it.each([
    [0.1, 0.3, 4],
    [0.2, 0.4, 3],
    [0.002, 0.001, 2],
  ])("of $%d for the current code and $%d for older code are recovered after %d runs", async (now, before, after) => {
    const folder = await makeFolder();
    const generations = [
      generationOf(promptOf(folder), { cost: { ...cost, usd: now }, createdAt: "2026-11-22T11:00:00.000Z" }),
      generationOf(promptOf(folder), { cost: { ...cost, usd: before }, code: "a", status: "replaced" }),
    ];
    expect(costsOf(folder, generations, [])).toMatchObject([{ break_even_runs: after }]);
  });
});
