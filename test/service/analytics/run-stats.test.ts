import { readTrace } from "@nova/engine";
import { expect, it } from "vitest";
import { roundDuration, statsOf } from "../../../packages/service/src/analytics/figures.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { simulate } from "../../support/engine/simulate.ts";
import { type SlowFigures, slowFigures } from "../support/slow-figures.ts";

const nothing = { cost_usd: 0, tokens_input: 0, tokens_cached: 0, tokens_output: 0 };

/** Statistics with rounded durations, as they are stored. */
function asKept({ runs, failed, ms, failedMs, spent, hits }: SlowFigures) {
  const durations: Record<string, number> = {};
  for (const one of ms.map((each) => String(roundDuration(each)))) durations[one] = (durations[one] ?? 0) + 1;
  return { runs, failed, totalMs: ms.reduce((a, b) => a + b, 0), failedMs, durations, spent, hits };
}

it("statistics of 150 random runs equal a count over their traces, with branches, items, failures, dollars and hits", {
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
