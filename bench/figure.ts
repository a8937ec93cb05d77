import type { LocalCloud } from "@nova/local";

/** One line of `npm run bench`: a ratio or a count of one run, and whether it meets its aim. */
export interface Figure {
  name: string;
  aim: string;
  value: number | null;
  /** Null where the figure could not be taken here; `detail.skipped` says why. */
  met: boolean | null;
  /** What the value was computed from; times in milliseconds. */
  detail: Record<string, number | string>;
}

/** Takes one or more figures; everything that is compared is measured in turns, in the same run. */
export type Bench = (cloud: LocalCloud) => Promise<Figure[]>;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = Number.NaN, high = Number.NaN] =
    sorted.length % 2 === 1 ? [sorted[middle], sorted[middle]] : sorted.slice(middle - 1, middle + 1);
  return (low + high) / 2;
}

export function rounded(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
