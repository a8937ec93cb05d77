import { describe, expect, it } from "vitest";
import {
  buildCostChart,
  computeFirstDay,
  computeTicks,
  formatTokens,
  others,
  sumCosts,
} from "../../../../packages/console/src/pages/costs/cost-days.ts";

const now = Date.parse("2026-11-25T23:59:59.999Z");

function figure(day: string, workflow: string, cost_usd: number, more: object = {}) {
  const nothing = { tokens_input: 0, tokens_cached: 0, tokens_output: 0, cache_hits: 0, saved_usd: 0 };
  return { ...nothing, day, workflow, cost_usd, ...more };
}

describe("a chart of costs", () => {
  it("contains every day of the range, including today and days without runs", () => {
    const { days } = buildCostChart([figure("2026-11-24", "bills", 2)], "cost", 3, now);
    expect(days).toEqual([
      { day: "2026-11-23", values: [0], total: 0 },
      { day: "2026-11-24", values: [2], total: 2 },
      { day: "2026-11-25", values: [0], total: 0 },
    ]);
    expect(days[0]?.day).toBe(computeFirstDay(3, now));
  });

  it("omits days before the range", () => {
    expect(buildCostChart([figure("2026-11-01", "bills", 2)], "cost", 3, now).largest).toBe(0);
  });

  it("colours the most expensive workflows, and joins all other workflows into one series", () => {
    const many = Array.from({ length: 8 }, (_, index) => figure("2026-11-25", `w${index}`, index + 1));
    const { series, days, largest } = buildCostChart(many, "cost", 1, now);
    expect(series).toEqual(["w7", "w6", "w5", "w4", "w3", others]);
    expect(days[0]?.values).toEqual([8, 7, 6, 5, 4, 1 + 2 + 3]);
    expect(largest).toBe(36);
  });

  it("gives each of six workflows a colour of its own", () => {
    const six = Array.from({ length: 6 }, (_, index) => figure("2026-11-25", `w${index}`, index + 1));
    expect(buildCostChart(six, "cost", 1, now).series).not.toContain(others);
  });

  it("can show input plus output tokens, or savings, instead of costs", () => {
    const one = figure("2026-11-25", "bills", 2, { tokens_input: 900, tokens_output: 40, saved_usd: 0.5 });
    expect(buildCostChart([one], "tokens", 1, now).largest).toBe(940);
    expect(buildCostChart([one], "saved", 1, now).largest).toBe(0.5);
  });

  it.each([
    [0, []],
    [0.012, [0.005, 0.01, 0.015]],
    [30, [10, 20, 30]],
    [31, [20, 40]],
    [100, [50, 100]],
  ])("draws grid lines at round numbers up to %d", (largest, ticks) => {
    expect(computeTicks(largest).map((tick) => Number(tick.toFixed(6)))).toEqual(ticks);
  });
});

it("the totals on the page of costs are the sums over all days and workflows", () => {
  const all = [figure("2026-11-24", "a", 1, { cache_hits: 2 }), figure("2026-11-25", "b", 0.5, { cache_hits: 3 })];
  expect(sumCosts(all)).toMatchObject({ cost_usd: 1.5, cache_hits: 5, tokens_input: 0 });
});

it("the console abbreviates large numbers of tokens", () => {
  expect([formatTokens(940), formatTokens(21_050), formatTokens(1_240_000)]).toEqual(["940", "21.1K", "1.2M"]);
});
