import type { PlannedFrame, PlannedNode, Way } from "../lower/plan.ts";

/** A way out of a node, with what taking it costs. `end`: nothing of the frame follows. */
export interface CountedWay {
  events: number;
  to: Way | "end";
}

/**
 * The most events on any way through a frame. A ring, which only `onError` can make, is counted once: how often a run
 * goes round is not known.
 */
export function longestWay({ entry, nodes }: PlannedFrame, waysOf: (node: PlannedNode) => CountedWay[]): number {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const known = new Map<string, number>();
  const begun = new Map<string, CountedWay[]>();
  const waiting = [entry];
  while (waiting.length > 0) {
    const id = waiting.at(-1) as string;
    const ways = begun.get(id);
    if (ways) {
      waiting.pop();
      if (!known.has(id)) known.set(id, mostOf(ways, known));
      continue;
    }
    const found = waysOf(byId.get(id) as PlannedNode);
    begun.set(id, found);
    for (const { to } of found) if (to !== null && byId.has(to) && !begun.has(to)) waiting.push(to);
  }
  return known.get(entry) ?? 0;
}

function mostOf(ways: CountedWay[], known: ReadonlyMap<string, number>): number {
  return ways.reduce((most, { events, to }) => Math.max(most, events + (known.get(to ?? "") ?? 0)), 0);
}
