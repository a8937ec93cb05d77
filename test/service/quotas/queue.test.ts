// @module-tag deep
import { expect, it } from "vitest";
import { playQueues } from "../support/queue-model.ts";

const runs = Number(process.env.NOVA_MODEL_RUNS ?? 2000);
const timeout = Math.max(120_000, runs * 10);
const first = Number(process.env.NOVA_MODEL_SEED ?? 1);

it(`every quota holds in ${runs} random runs with faults`, { timeout }, async () => {
  for (let seed = first; seed < first + runs; seed++) {
    const { violations, story } = await playQueues(seed);
    const told = process.env.NOVA_MODEL_SEED ? story.join("\n") : "";
    expect(violations, `seed ${seed}\n${told}`).toEqual([]);
  }
});
