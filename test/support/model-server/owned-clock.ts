import { vi } from "vitest";

/** Timers that only the test lets fire; the network's own are not touched. */
export interface OwnedClock extends Disposable {
  /** Milliseconds of every timer set so far. */
  delays(): number[];
  pass(milliseconds: number): Promise<void>;
  /** Waits for the network, while no time passes. */
  until(happened: () => boolean): Promise<void>;
}

export function ownTheClock(): OwnedClock {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const [fake, delays] = [globalThis.setTimeout, [] as number[]];
  // No spy of Vitest's: whoever restores all of them later would put the fake back in place for good.
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
