import type { ContextUse } from "../code/context-use.ts";
import type { Graph } from "./graph.ts";

export interface Overwrite {
  key: string;
  /** Its value is lost on every way. */
  first: string;
  /** One of the nodes that set it again. */
  second: string;
}

/** How far behind a node its readers are looked for: what is further away stays unsaid, so that large graphs stay fast. */
const horizon = 100;

/**
 * Keys whose value nothing reads before another node sets it, whichever way a run takes. Nodes without a use (the ends
 * of a run among them) read everything, and so does what follows a node without ways on: an item's results. `mayFail`
 * are nodes whose failure goes on elsewhere, with the older value.
 */
export function* findOverwrites(
  graph: Graph,
  uses: ReadonlyMap<string, ContextUse>,
  mayFail: ReadonlySet<string>,
): Iterable<Overwrite> {
  const writers = new Map<string, number>();
  for (const use of uses.values()) for (const key of use.writes) writers.set(key, (writers.get(key) ?? 0) + 1);
  for (const [first, use] of uses) {
    for (const key of use.writes) {
      const second = writers.get(key) === 1 ? undefined : overwriterOf(first, key);
      if (second !== undefined) yield { key, first, second };
    }
  }

  /** The nearest overwriter, if every way from the node meets one before it meets a reader. */
  function overwriterOf(id: string, key: string): string | undefined {
    let nearest: string | undefined;
    const seen = new Set(graph.successors.get(id));
    for (const next of seen) {
      const use = uses.get(next);
      if (!use || use.reads(key) || seen.size > horizon) return undefined;
      const behind = graph.successors.get(next) ?? [];
      if (!use.alwaysWrites.has(key)) {
        if (behind.length === 0) return undefined;
        for (const later of behind) seen.add(later);
      } else if (mayFail.has(next)) return undefined;
      else nearest ??= next;
    }
    return nearest;
  }
}
