import type { Pause } from "../ports/triggers.ts";

const longestSeconds = 6 * 60 * 60;

/** After the first failure the next time, then twice as long as before, at most six hours. */
export function pauseAfter(failures: number, everySeconds: number, nowMs: number): Pause {
  const seconds = failures <= 1 ? 0 : Math.min(longestSeconds, everySeconds * 2 ** (failures - 1));
  return { failures, until: new Date(nowMs + seconds * 1000).toISOString() };
}

export function isPaused(pause: Pause | undefined, nowMs: number): boolean {
  return pause !== undefined && Date.parse(pause.until) > nowMs;
}
