import type { LocalCloud } from "@nova/local";

/** One line of `npm run bench`: a ratio or a count of one run, and whether it meets its aim. */
export interface Figure {
  name: string;
  aim: string;
  value: number | null;
  /** Null if the figure could not be taken here; `detail.skipped` has the reason. */
  met: boolean | null;
  /** The inputs of the value; times in milliseconds. */
  detail: Record<string, number | string>;
}

/** Takes one or more figures. Compared values are measured alternately, in the same run. */
export type Bench = (cloud: LocalCloud) => Promise<Figure[]>;

/** Takes figures of processes that it starts itself, before this process opens anything. */
export type BenchApart = () => Promise<Figure[]>;

export function atMost(most: number, name: string, value: number, detail: Figure["detail"] = {}, unit = " x"): Figure {
  return { name, aim: `at most ${most}${unit}`, value: rounded(value), met: value <= most, detail };
}

/** The reason why a rival is missing: it cannot be installed, or no walls can be made here. */
export class NoRival extends Error {
  override readonly name = "NoRival";
}

/** The figure of a comparison with a missing rival. */
export function skippedFigure(most: number, name: string, error: unknown): Figure {
  if (!(error instanceof NoRival)) throw error;
  return { name, aim: `at most ${most} x`, value: null, met: null, detail: { skipped: error.message } };
}

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
