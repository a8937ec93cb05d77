import type { NodeEvent } from "@nova/local";
import { styled } from "./terminal.ts";

/** A map with more items gets a progress line instead of a line for every node. */
const maxToldApart = 5;
const everyMs = 1_000;

interface MapState {
  count: number;
  /** The last event of each item, by its number. */
  states: Map<number, NodeEvent["state"]>;
  told: string;
  failuresTold: number;
}

/** Prints how many items of a map are done, at most once a second, instead of a line for every node of every item. */
export class MapProgress {
  readonly #say: (execution: string, line: string) => void;
  /** By execution and map. */
  readonly #maps = new Map<string, Map<string, MapState>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(say: (execution: string, line: string) => void) {
    this.#say = say;
  }

  /** Whether the progress line replaces the line of this event. */
  absorb(execution: string, { node, state, items, map, count }: NodeEvent): boolean {
    if (count !== undefined && count > maxToldApart && items === undefined) this.#begin(execution, node, count);
    // The final progress comes before the nodes after the map.
    if (items === undefined && state === "started") this.#tell(execution);
    const going = map === undefined ? undefined : this.#maps.get(execution)?.get(map);
    const [item] = items ?? [];
    if (!going || item === undefined) return false;
    going.states.set(item, state);
    this.#timer ??= setTimeout(() => this.#tellAll(), everyMs).unref();
    return state !== "waiting" && (state !== "failed" || going.failuresTold++ >= maxToldApart);
  }

  end(execution: string): void {
    this.#tell(execution);
    this.#maps.delete(execution);
  }

  #begin(execution: string, node: string, count: number): void {
    const maps = this.#maps.get(execution) ?? new Map<string, MapState>();
    this.#maps.set(execution, maps.set(node, { count, states: new Map(), told: "", failuresTold: 0 }));
  }

  #tellAll(): void {
    this.#timer = undefined;
    for (const execution of this.#maps.keys()) this.#tell(execution);
  }

  #tell(execution: string): void {
    for (const [node, going] of this.#maps.get(execution) ?? []) {
      const { count, states, told } = going;
      // Between two of its nodes an item counts as done for a moment.
      const done = states.values().filter((state) => state === "succeeded" || state === "failed");
      const failed = states.values().filter((state) => state === "failed");
      const [doneCount, failedCount] = [Array.from(done).length, Array.from(failed).length];
      const text = `${node} ${doneCount}/${count}${failedCount > 0 ? `, ${failedCount} failed` : ""}`;
      if (text !== told) this.#say(execution, `  ${styled("cyan", "»")} ${text}`);
      going.told = text;
    }
  }
}
