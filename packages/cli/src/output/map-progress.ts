import type { NodeEvent } from "@nova/local";
import { styled } from "./terminal.ts";

/** Of a map with more items not every node of every item has a line. */
const maxToldApart = 5;
const everyMs = 1_000;

interface Going {
  count: number;
  /** What was last heard of an item, by its number. */
  states: Map<number, NodeEvent["state"]>;
  told: string;
  failuresTold: number;
}

/** Says of maps how many items are done, once a second at most, in place of a line for every node of every item. */
export class MapProgress {
  readonly #say: (execution: string, line: string) => void;
  /** By execution, by map. */
  readonly #going = new Map<string, Map<string, Going>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(say: (execution: string, line: string) => void) {
    this.#say = say;
  }

  /** True: the line for this event is none of its own. */
  takes(execution: string, { node, state, items, map, count }: NodeEvent): boolean {
    if (count !== undefined && count > maxToldApart && items === undefined) this.#begin(execution, node, count);
    // What comes behind a map comes behind its last figure.
    if (items === undefined && state === "started") this.#tell(execution);
    const going = map === undefined ? undefined : this.#going.get(execution)?.get(map);
    const [item] = items ?? [];
    if (!going || item === undefined) return false;
    going.states.set(item, state);
    this.#timer ??= setTimeout(() => this.#tellAll(), everyMs).unref();
    return state !== "waiting" && (state !== "failed" || going.failuresTold++ >= maxToldApart);
  }

  end(execution: string): void {
    this.#tell(execution);
    this.#going.delete(execution);
  }

  #begin(execution: string, node: string, count: number): void {
    const maps = this.#going.get(execution) ?? new Map<string, Going>();
    this.#going.set(execution, maps.set(node, { count, states: new Map(), told: "", failuresTold: 0 }));
  }

  #tellAll(): void {
    this.#timer = undefined;
    for (const execution of this.#going.keys()) this.#tell(execution);
  }

  #tell(execution: string): void {
    for (const [node, going] of this.#going.get(execution) ?? []) {
      const { count, states, told } = going;
      // An item rests for a moment between two of its nodes.
      const done = states.values().filter((state) => state === "succeeded" || state === "failed");
      const failed = states.values().filter((state) => state === "failed");
      const [doneCount, failedCount] = [Array.from(done).length, Array.from(failed).length];
      const text = `${node} ${doneCount}/${count}${failedCount > 0 ? `, ${failedCount} failed` : ""}`;
      if (text !== told) this.#say(execution, `  ${styled("cyan", "»")} ${text}`);
      going.told = text;
    }
  }
}
