import { vi } from "vitest";

/** Timers that fire only when the test advances the clock. Timers of the network are real. */
export interface OwnedClock extends Disposable {
  /** Returns the delays of all timers so far, in milliseconds. */
  delays(): number[];
  pass(milliseconds: number): Promise<void>;
  /** Waits for the network while the clock stands still. */
  until(happened: () => boolean): Promise<void>;
}

export function ownTheClock(): OwnedClock {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const [fake, delays] = [globalThis.setTimeout, [] as number[]];
  // A spy of Vitest would not work: a later restore of all mocks would install this fake for good.
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
