import { vi } from "vitest";

/** Timers that fire only when the test advances the clock. Timers of the network are real. */
export interface OwnedClock extends Disposable {
  /** Returns the delays, in milliseconds, of all timers that were set so far. */
  delays(): number[];
  pass(milliseconds: number): Promise<void>;
  /** Waits until `happened` returns true, without advancing the clock, so that only the network makes progress. */
  until(happened: () => boolean): Promise<void>;
}

export function ownTheClock(): OwnedClock {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const [fake, delays] = [globalThis.setTimeout, [] as number[]];
  // This is no spy of Vitest, because a later restore of all mocks would install the fake timer as if it were the real
  // one.
  const noted = (callback: () => void, milliseconds = 0, ...args: []) => {
    delays.push(milliseconds);
    return fake(callback, milliseconds, ...args);
  };
  globalThis.setTimeout = Object.assign(noted, fake);
  return {
    delays: () => delays,
    pass: async (milliseconds) => {
      await vi.advanceTimersByTimeAsync(milliseconds);
    },
    async until(happened) {
      while (!happened()) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    [Symbol.dispose]() {
      globalThis.setTimeout = fake;
      vi.useRealTimers();
    },
  };
}
