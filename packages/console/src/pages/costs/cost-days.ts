import { formatUsd, type Schemas } from "@nova/client";

type CostFigures = Schemas["CostFigures"];

/** The filter of all reports; `from` is a day in UTC. */
export interface CostQuery {
  workflow?: string;
  client?: string;
  from: string;
}

export const measures = ["cost", "tokens", "saved"] as const;
export type Measure = (typeof measures)[number];

/** Maximum number of workflows that have their own colour. */
const maxSeries = 6;
/**
 * The id of the series for all workflows without their own colour. No workflow can have this id, because ids of
 * workflows contain no dots.
 */
export const others = "...";

export type CostChartData = ReturnType<typeof buildCostChart>;
export type CostDay = CostChartData["days"][number];

const dayMs = 86_400_000;

/** Returns the first day of a range that ends today. */
export function computeFirstDay(days: number, now: number): string {
  return formatDay(now - (days - 1) * dayMs);
}

function formatDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function readMeasure({ cost_usd, saved_usd, tokens_input, tokens_output }: CostFigures, measure: Measure): number {
  if (measure === "tokens") return tokens_input + tokens_output;
  return measure === "cost" ? cost_usd : saved_usd;
}

/**
 * Builds a bar for every day in UTC, including days without runs. `series` lists the ids of the workflows with the
 * largest values, and `others` for the sum of all remaining workflows. `values` of a bar has one value per series, from
 * bottom to top.
 */
export function buildCostChart(figures: readonly CostFigures[], measure: Measure, days: number, now: number) {
  const sums = new Map<string, number>();
  for (const one of figures) sums.set(one.workflow, (sums.get(one.workflow) ?? 0) + readMeasure(one, measure));
  const ranked = Array.from(sums).sort(([a, most], [b, more]) => more - most || a.localeCompare(b));
  const largestWorkflows = ranked
    .slice(0, ranked.length > maxSeries ? maxSeries - 1 : maxSeries)
    .map(([workflow]) => workflow);
  const series = ranked.length > maxSeries ? [...largestWorkflows, others] : largestWorkflows;
  const all = Array.from({ length: days }, (_, index) => {
    return { day: formatDay(now - (days - 1 - index) * dayMs), values: series.map(() => 0), total: 0 };
  });
  const byDay = new Map(all.map((one) => [one.day, one]));
  for (const one of figures) {
    const day = byDay.get(one.day);
    if (!day) continue;
    const place = largestWorkflows.includes(one.workflow) ? largestWorkflows.indexOf(one.workflow) : series.length - 1;
    const value = readMeasure(one, measure);
    day.values[place] = (day.values[place] ?? 0) + value;
    day.total += value;
  }
  return { series, days: all, largest: Math.max(0, ...all.map(({ total }) => total)) };
}

/** Computes the values at which the chart draws grid lines: at most four round numbers above zero. */
export function computeTicks(largest: number): number[] {
  if (largest <= 0) return [];
  const rough = largest / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.ceil(largest / step) }, (_, index) => (index + 1) * step);
}

const summed = ["cost_usd", "saved_usd", "tokens_input", "tokens_cached", "tokens_output", "cache_hits"] as const;
export type CostSums = Pick<CostFigures, (typeof summed)[number]>;

export function sumCosts(figures: readonly CostFigures[]): CostSums {
  const sums = summed.map((name) => [name, figures.reduce((total, one) => total + one[name], 0)]);
  return Object.fromEntries(sums) as CostSums;
}

/** Formats a number of tokens, such as `1.2 M` or `840 k`. */
export function formatTokens(count: number): string {
  return new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(count);
}

export function formatMeasure(value: number, measure: Measure): string {
  return measure === "tokens" ? formatTokens(value) : formatUsd(value);
}
