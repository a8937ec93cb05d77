import type { LocalCloud } from "@nova/local";

/** One line in the output of `npm run bench`: a measured ratio or count, and whether it meets its aim. */
export interface Figure {
  name: string;
  aim: string;
  value: number | null;
  /**
   * Whether the value meets the aim. Null if it could not be measured on this machine; `detail.skipped` has the reason.
   */
  met: boolean | null;
  /** The measured values from which `value` is computed; times are in milliseconds. */
  detail: Record<string, number | string>;
}

/**
 * Measures one or more figures. To compare two values, a bench alternates their measurements in the same run, so that
 * the machine is in the same state for both.
 */
export type Bench = (cloud: LocalCloud) => Promise<Figure[]>;

/**
 * Measures figures of processes that it starts itself. It runs before the benchmark process opens a cloud of its own.
 */
export type BenchApart = () => Promise<Figure[]>;

export function atMost(most: number, name: string, value: number, detail: Figure["detail"] = {}, unit = " x"): Figure {
  return { name, aim: `at most ${most}${unit}`, value: rounded(value), met: value <= most, detail };
}

/** Thrown if a rival cannot be measured: it cannot be installed, or this machine cannot isolate its steps. */
export class NoRival extends Error {
  override readonly name = "NoRival";
}

/** Returns the figure of a comparison with a rival that cannot be measured. */
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
