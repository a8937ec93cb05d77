import { describe, expect, it } from "vitest";
import { simulate } from "../support/engine/simulate.ts";

/** `NOVA_MODEL_RUNS` sets the number of runs of the long test; `NOVA_MODEL_SEED` plays one seed and prints its story. */
const runs = Number(process.env.NOVA_MODEL_RUNS ?? 2000);
const seed = process.env.NOVA_MODEL_SEED;
const timeout = Math.max(120_000, runs * 30);

/** Plays one run per seed, and fails with the first five runs that break an invariant. */
async function expectNoViolation(seeds: number[]): Promise<void> {
  const broken: { seed: number; flow: string; violations: string[]; story: string[] }[] = [];
  for (const one of seeds) {
    const { flow, violations, story } = await simulate(one);
    if (violations.length > 0) broken.push({ seed: one, flow, violations, story: seed === undefined ? [] : story });
    if (broken.length === 5) break;
  }
  expect(broken).toEqual([]);
}

function seedsFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

describe("a run under random duplicates, losses, deaths and cancels", () => {
  it("keeps every invariant of the protocol in a few runs", { timeout }, async () => {
    await expectNoViolation(seed === undefined ? seedsFrom(1, 200) : [Number(seed)]);
  });

  it("keeps every invariant of the protocol in thousands of runs", { timeout, tags: ["deep"] }, async () => {
    await expectNoViolation(seed === undefined ? seedsFrom(201, runs) : []);
  });
});
