import { setTimeout } from "node:timers/promises";

/** Time and chance for the interpreter. A test passes its own clock. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, or as soon as `signal` aborts. The caller reads from the signal why it woke. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** In [0, 1), as `Math.random`. */
  random(): number;
  /**
   * The interval at which a wait for a time of day has to check the clock: timers stand still while the machine sleeps,
   * and do not notice a clock that is set. Absent: no checks are needed.
   */
  readonly maxNapMs?: number;
}

/** setTimeout keeps its delay in 31 bits and fires immediately beyond; a Wait state may last a year. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  random: Math.random,
  maxNapMs: 10_000,
  async sleep(ms, signal) {
    for (let left = ms; left > 0 && !signal?.aborted; left -= MAX_TIMER_MS) {
      const waited = setTimeout(Math.min(left, MAX_TIMER_MS), undefined, signal && { signal });
      await waited.catch(() => undefined); // `signal` aborted
    }
  },
};

/** Returns a clock that never goes back: if the given clock does, it continues from its last time. */
export function createSteadyClock(clock: Clock): Clock {
  let [latest, aheadMs] = [Number.NEGATIVE_INFINITY, 0];
  return {
    ...(clock.maxNapMs !== undefined && { maxNapMs: clock.maxNapMs }),
    random: () => clock.random(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    now() {
      aheadMs += Math.max(0, latest - (clock.now() + aheadMs));
      latest = clock.now() + aheadMs;
      return latest;
    },
  };
}
