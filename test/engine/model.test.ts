import { expect, it } from "vitest";
import { simulate } from "../support/engine/simulate.ts";

/** `NOVA_MODEL_RUNS` sets how many runs there are, `NOVA_MODEL_SEED` runs one seed alone and prints its story. */
const runs = Number(process.env.NOVA_MODEL_RUNS ?? 2000);
const only = process.env.NOVA_MODEL_SEED;
const seeds = only === undefined ? Array.from({ length: runs }, (_, i) => i + 1) : [Number(only)];

it(
  "keeps every invariant of the protocol, whatever is delivered twice, lost, killed or cancelled",
  async () => {
    const broken: { seed: number; flow: string; violations: string[]; story: string[] }[] = [];
    for (const seed of seeds) {
      const { flow, violations, story } = await simulate(seed);
      if (violations.length > 0) broken.push({ seed, flow, violations, story: only === undefined ? [] : story });
      if (broken.length === 5) break;
    }
    expect(broken).toEqual([]);
  },
  Math.max(120_000, runs * 30),
);
