import type { Clock } from "./clock.ts";

interface Alarm {
  dueMs: number;
  off: AbortController;
}

/** One alarm per key: whoever has something to do at a time is called then. */
export class Alarms<Key> {
  readonly #clock: Clock;
  readonly #ring: (key: Key) => void;
  readonly #set = new Map<Key, Alarm>();

  constructor(clock: Clock, ring: (key: Key) => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Null: none. */
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

  async #wait(key: Key, alarm: Alarm): Promise<void> {
    await this.#clock.sleep(Math.max(0, alarm.dueMs - this.#clock.now()), alarm.off.signal);
    if (alarm.off.signal.aborted) return;
    this.#set.delete(key);
    this.#ring(key);
  }
}
