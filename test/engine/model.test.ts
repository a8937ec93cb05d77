import type { Workflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { agentFlows } from "../support/engine/prompt-flows.ts";
import { simulate } from "../support/engine/simulate.ts";
import { votingFlows } from "../support/engine/waiting-flows.ts";

/**
 * `NOVA_MODEL_RUNS` sets the number of runs of the long test. `NOVA_MODEL_SEED` runs one seed only, and prints its
 * events.
 */
const runs = Number(process.env.NOVA_MODEL_RUNS ?? 2000);
const seed = process.env.NOVA_MODEL_SEED;
const timeout = Math.max(120_000, runs * 300);

/** Simulates one run per seed, until five runs have broken an invariant. Fails and shows these runs. */
async function expectNoViolation(seeds: number[], family?: readonly Workflow[]): Promise<void> {
  const broken: { seed: number; flow: string; violations: string[]; story: string[] }[] = [];
  for (const one of seeds) {
    const { flow, violations, story } = await simulate(one, family);
    if (violations.length > 0) broken.push({ seed: one, flow, violations, story: seed === undefined ? [] : story });
    if (broken.length === 5) break;
  }
  expect(broken).toEqual([]);
}

function seedsFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

describe("the protocol, under random duplicated and lost calls, dying processes and cancels,", () => {
  it("keeps every invariant in 100 random runs", { timeout }, async () => {
    await expectNoViolation(seed === undefined ? seedsFrom(1, 100) : [Number(seed)]);
  });

  it("keeps every invariant in thousands of random runs", { timeout, tags: ["deep"] }, async () => {
    await expectNoViolation(seed === undefined ? seedsFrom(101, runs) : []);
  });
});

describe("votes that arrive twice, at the same time and late while processes die", () => {
  it("lead to exactly one outcome and count each person once, in each of 100 random runs", { timeout }, async () => {
    await expectNoViolation(seed === undefined ? seedsFrom(1, 100) : [Number(seed)], votingFlows);
  });

  it("lead to exactly one outcome and count each person once, in each of thousands of random runs", {
    timeout,
    tags: ["deep"],
  }, async () => {
    await expectNoViolation(seed === undefined ? seedsFrom(101, runs) : [], votingFlows);
  });
});

describe("agents and their calls, under random duplicated and lost calls, dying processes and cancels,", () => {
  it("keep every invariant in 60 random runs", { timeout }, async () => {
    await expectNoViolation(seed === undefined ? seedsFrom(1, 60) : [Number(seed)], agentFlows);
  });

  it("keep every invariant in thousands of random runs", { timeout, tags: ["deep"] }, async () => {
    await expectNoViolation(seed === undefined ? seedsFrom(61, runs) : [], agentFlows);
  });
});
