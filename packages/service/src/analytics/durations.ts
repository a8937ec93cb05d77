import type { Durations } from "../ports/stats.ts";

/** Rounded so, a duration is known to 5 %, and those of any number of runs are at most some hundred different ones. */
const digits = 2;

/** As durations are kept: to so many significant digits. */
export function rounded(ms: number, significant = digits): number {
  return Number(ms.toPrecision(significant));
}

export function addDuration(durations: Durations, ms: number): Durations {
  const key = String(rounded(ms));
  return { ...durations, [key]: (durations[key] ?? 0) + 1 };
}

/** Null where one of them does not say. */
export function mergeDurations(a: Durations | null, b: Durations | null): Durations | null {
  if (!a || !b) return null;
  const merged: Record<string, number> = { ...a };
  for (const [ms, count] of Object.entries(b)) merged[ms] = (merged[ms] ?? 0) + count;
  return merged;
}

/** The same, more coarsely. */
export function coarser(durations: Durations | null): Durations | null {
  if (!durations) return null;
  const merged: Record<string, number> = {};
  for (const [ms, count] of Object.entries(durations)) {
    const key = String(rounded(Number(ms), 1));
    merged[key] = (merged[key] ?? 0) + count;
  }
  return merged;
}

/** What 95 of 100 were not longer than (nearest rank); null where there are none. */
export function percentile95(durations: Durations | null): number | null {
  const steps = Object.entries(durations ?? {}).map(([ms, count]) => ({ ms: Number(ms), count }));
  let left = Math.ceil(steps.reduce((sum, { count }) => sum + count, 0) * 0.95);
  for (const { ms, count } of steps.sort((a, b) => a.ms - b.ms)) {
    left -= count;
    if (left <= 0) return ms;
  }
  return null;
}
