import type { Clock } from "../../../../packages/aws-local/src/clock.ts";

export interface VirtualClock extends Clock {
  /** The delays of all sleeps so far, in their order. */
  readonly sleeps: number[];
}

interface Sleeper {
  at: number;
  wake(): void;
}

/**
 * Returns a clock that jumps to the end of the next sleep as soon as no other work is left. So a test need not wait for
 * a year.
 */
export function virtualClock(options: { startMs?: number; random?: () => number } = {}): VirtualClock {
  let nowMs = options.startMs ?? Date.parse("2026-01-01T00:00:00Z");
  const sleepers = new Set<Sleeper>();
  const sleeps: number[] = [];

  function wakeNext(): void {
    const next = [...sleepers].sort((a, b) => a.at - b.at)[0];
    if (!next) return;
    nowMs = Math.max(nowMs, next.at);
    next.wake();
  }

  return {
    sleeps,
    now: () => nowMs,
    random: options.random ?? (() => 0.5),
    sleep(ms, signal) {
      sleeps.push(ms);
      if (signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const sleeper = {
          at: nowMs + ms,
          wake() {
            sleepers.delete(sleeper);
            signal?.removeEventListener("abort", sleeper.wake);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", sleeper.wake, { once: true });
        setImmediate(wakeNext);
      });
    },
  };
}
