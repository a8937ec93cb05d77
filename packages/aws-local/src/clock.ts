/** The source of time and random numbers for the interpreter. A test passes its own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Resolves after `ms`, or as soon as `signal` aborts. The caller checks the signal to find out which of the two
   * happened.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Returns a number in [0, 1), like `Math.random`. */
  random(): number;
  /**
   * The interval at which a long wait has to check the clock. Timers stand still while the machine sleeps, and do not
   * notice when a user sets the clock. Absent: no checks are needed.
   */
  readonly maxNapMs?: number;
}

/** `setTimeout` fires immediately if its delay needs more than 31 bits (25 days), but a Wait state may last a year. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  random: Math.random,
  maxNapMs: 10_000,
  async sleep(ms, signal) {
    for (let left = ms; left > 0 && !signal?.aborted; left -= MAX_TIMER_MS) {
      await timer(Math.min(left, MAX_TIMER_MS), signal);
    }
  },
};

/**
 * Works like `setTimeout` of `node:timers/promises`. That function throws if `signal` aborts, which makes an abort ten
 * times slower.
 */
function timer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timeout);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timeout = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}

/**
 * Returns a clock that never goes back. If the given clock is set back, the returned clock continues from the latest
 * time that it has returned.
 */
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
