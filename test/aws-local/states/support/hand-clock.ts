import type { Clock } from "../../../../packages/aws-local/src/clock.ts";

export interface HandClock extends Clock {
  /** Lets time pass, and ends the sleeps that are over, the earliest first. */
  pass(seconds: number): void;
  /**
   * Jumps, as if the machine slept or a user set the clock. The remaining time of each sleep stays the same, because
   * the timers of a machine do not advance during such a jump.
   */
  jump(seconds: number): void;
}

/** A clock that stands still until the test moves it. It may outlive the servers that use it. */
export function handClock(options: Pick<Clock, "maxNapMs"> = {}): HandClock {
  let nowMs = Date.parse("2026-01-01T00:00:00Z");
  const sleepers = new Map<() => void, number>();
  return {
    ...options,
    now: () => nowMs,
    random: Math.random,
    sleep(ms, signal) {
      if (ms <= 0 || signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const wake = () => {
          sleepers.delete(wake);
          resolve();
        };
        sleepers.set(wake, nowMs + ms);
        signal?.addEventListener("abort", wake, { once: true });
      });
    },
    pass(seconds) {
      nowMs += seconds * 1000;
      const due = [...sleepers].filter(([, at]) => at <= nowMs).sort(([, a], [, b]) => a - b);
      for (const [wake] of due) wake();
    },
    jump(seconds) {
      nowMs += seconds * 1000;
      for (const [wake, at] of sleepers) sleepers.set(wake, at + seconds * 1000);
    },
  };
}
