import type { Clock, Timer } from "@nova/engine";
import type { Caller } from "./scheduler.ts";

/** A clock whose time changes only when the test advances it. */
export class VirtualClock {
  now = Date.parse("2026-01-01T00:00:00.000Z");
  readonly #timeouts: { due: number; end: AbortController }[] = [];

  advance(ms: number): void {
    this.advanceTo(this.now + ms);
  }

  advanceTo(ms: number): void {
    this.now = Math.max(this.now, ms);
    for (const { due, end } of this.#timeouts) if (due <= this.now) end.abort();
  }

  iso(ms = this.now): string {
    return new Date(ms).toISOString();
  }

  port(caller: Caller): Clock {
    return {
      now: () => this.now,
      sleep: (ms) => {
        const due = this.now + ms;
        return caller.call({ name: `sleep ${ms}`, effect: () => this.advanceTo(due) });
      },
    };
  }

  timer(): Timer {
    return {
      timeout: (ms) => {
        const end = new AbortController();
        this.#timeouts.push({ due: this.now + ms, end });
        return end.signal;
      },
    };
  }
}
