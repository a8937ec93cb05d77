import type { Clock } from "../clock.ts";

interface Alarm {
  dueMs: number;
  off: AbortController;
}

/**
 * The smallest difference between clock and timer that counts as a jump of the clock. Smaller differences are normal:
 * timers are late on a busy machine, and clocks are corrected in small steps.
 */
export const leastJumpMs = 60_000;

/** Keeps at most one alarm per key, and calls `ring` with the key when the alarm is due. */
export class Alarms<Key> {
  readonly #clock: Clock;
  readonly #ring: (key: Key) => void;
  readonly #onJump: (key: Key, ms: number) => void;
  readonly #set = new Map<Key, Alarm>();

  /**
   * `ring` is called when an alarm is due. The clock jumps forward if the machine slept or a user set the clock. Then
   * the class first calls `onJump` with the skipped time for each key, and `onJump` may move the alarm of the key.
   * Afterwards each due alarm rings. If the clock jumps back, every alarm rings, because its time may have changed.
   */
  constructor(clock: Clock, ring: (key: Key) => void, onJump: (key: Key, ms: number) => void = () => undefined) {
    this.#clock = clock;
    this.#ring = ring;
    this.#onJump = onJump;
  }

  /** Sets the alarm of a key; null removes it. */
  set(key: Key, dueMs: number | null): void {
    const before = this.#set.get(key);
    if (before?.dueMs === dueMs) return;
    before?.off.abort("off");
    this.#set.delete(key);
    if (dueMs === null) return;
    const alarm = { dueMs, off: new AbortController() };
    this.#set.set(key, alarm);
    this.#wait(key, alarm);
  }

  allOff(): void {
    for (const key of [...this.#set.keys()]) this.set(key, null);
  }

  async #wait(key: Key, { dueMs, off: { signal } }: Alarm): Promise<void> {
    let jumpMs = 0;
    do {
      const before = this.#clock.now();
      const napMs = Math.min(Math.max(0, dueMs - before), this.#clock.maxNapMs ?? Number.POSITIVE_INFINITY);
      await this.#clock.sleep(napMs, signal);
      if (signal.aborted) return;
      jumpMs = this.#clock.now() - before - napMs;
      if (jumpMs > leastJumpMs) this.#onJump(key, jumpMs);
      if (signal.aborted) return;
    } while (jumpMs > -leastJumpMs && this.#clock.now() < dueMs);
    this.#set.delete(key);
    this.#ring(key);
  }
}
