/** Time and chance as the interpreter sees them; a test owns both by passing its own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, or as soon as `signal` aborts: whoever waits asks the signal why it woke. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** In [0, 1), as `Math.random`. */
  random(): number;
}

/** setTimeout keeps its delay in 31 bits and fires at once beyond; a Wait state may last a year. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  random: Math.random,
  async sleep(ms, signal) {
    for (let left = ms; left > 0 && !signal?.aborted; left -= LONGEST_TIMER_MS) {
      await oneTimer(Math.min(left, LONGEST_TIMER_MS), signal);
    }
  },
};

function oneTimer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal?.addEventListener("abort", wake, { once: true });
  });
}
