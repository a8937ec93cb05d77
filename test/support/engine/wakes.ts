import type { KeptEvent, TaskKey, UsedShape, WaitingTask, Wake, WakeStore } from "@nova/engine";
import type { Caller } from "./scheduler.ts";

/** The index from events to waiting tasks, in memory. Kept events never expire here. */
export class WakeState {
  readonly shapes = new Map<string, UsedShape>();
  readonly places = new Map<string, Map<string, TaskKey>>();
  readonly events = new Map<string, KeptEvent[]>();

  add({ execution, id }: WaitingTask, { shape, keys }: Wake): void {
    this.use({ shape, keepsEvents: false });
    for (const key of keys) this.#at(key).set(id, { execution, id });
  }

  remove(id: string, { keys }: Wake): void {
    for (const key of keys) this.#at(key).delete(id);
  }

  use(used: UsedShape): void {
    this.shapes.set(JSON.stringify(used), used);
  }

  port(caller: Caller): WakeStore {
    const ask = <T>(name: string, effect: () => T) => caller.call({ name, effect });
    return {
      shapes: () => ask("shapes", () => [...this.shapes.values()]),
      use: (shape) => ask("use shape", () => this.use(shape)),
      tasksAt: (key) => ask("tasks at a key", () => [...this.#at(key).values()]),
      keepEvent: (key, event) =>
        ask("keep event", () => {
          this.events.set(key, [...(this.events.get(key) ?? []), event]);
        }),
      eventsAt: async function* (this: WakeState, key: string, from: string) {
        yield* await ask("events at a key", () => (this.events.get(key) ?? []).filter(({ at }) => at >= from));
      }.bind(this),
    };
  }

  #at(key: string): Map<string, TaskKey> {
    const there = this.places.get(key) ?? new Map<string, TaskKey>();
    this.places.set(key, there);
    return there;
  }
}
