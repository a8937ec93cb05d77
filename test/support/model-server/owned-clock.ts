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
  const timers = vi.spyOn(globalThis, "setTimeout");
  return {
    delays: () => timers.mock.calls.map(([, milliseconds]) => milliseconds ?? 0),
    pass: async (milliseconds) => {
      await vi.advanceTimersByTimeAsync(milliseconds);
    },
    async until(happened) {
      while (!happened()) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    [Symbol.dispose]() {
      timers.mockRestore();
      vi.useRealTimers();
    },
  };
}
