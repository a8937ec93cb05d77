import { lastToFirst } from "@nova/workflow";
import type { PlannedFrame, PlannedNode, Target } from "../lower/plan.ts";

/** An edge of a node with its events. `to` is null if the frame ends. */
export interface CountedEdge {
  events: number;
  to: Target;
  /** The edge leads back, at most this often. */
  max?: number;
}

type Ways = ReadonlyMap<string, CountedEdge[]>;

/** The virtual node after all paths. It is no valid id. */
const frameEnd = "(end)";

/** Counts the most events on any path through a frame. A cycle without `max`, which `onError` can make, counts once. */
export function longestPath({ entry, nodes }: PlannedFrame, waysOf: (node: PlannedNode) => CountedEdge[]): number {
  const all = nodes.map((node): [string, CountedEdge[]] => [node.id, waysOf(node)]);
  const onward = new Map(all.map(([id, ways]) => [id, ways.filter(({ max }) => max === undefined)]));
  const loops = new Map(
    all.flatMap(([id, ways]): [string, CountedEdge[]][] => {
      const back = ways.filter(({ max }) => max !== undefined);
      return back.length > 0 ? [[id, back]] : [];
    }),
  );
  if (loops.size === 0) return longestTo(frameEnd, onward, [entry]).get(entry) ?? 0;
  return withLoops(entry, onward, loops);
}

/**
 * A path is a sequence of paths without loops; each but the last ends with a loop edge of a decision. A decision before
 * another one runs all its rounds at each visit, so the decisions are added one after the other, as in the
 * Floyd-Warshall algorithm.
 */
function withLoops(entry: string, onward: Ways, loops: ReadonlyMap<string, CountedEdge[]>): number {
  const begins = [...new Set([entry, ...[...loops.values()].flatMap((ways) => ways.map(({ to }) => String(to)))])];
  const deciding = lastToFirst(begins, (id) => nextOf(id, onward))
    .reverse()
    .filter((id) => loops.has(id));
  const longest = new Map([...deciding, frameEnd].map((to) => [to, longestTo(to, onward, begins)]));
  const between = (from: Target, to: string) => longest.get(to)?.get(String(from));
  for (const decision of deciding) {
    const back = loops.get(decision) ?? [];
    const ways = back.map((way) => ({ ...way, round: way.events + (between(way.to, decision) ?? 0) }));
    const rounds = ways.reduce((sum, { round, max = 0 }) => sum + round * max, 0);
    const improved = [...longest].map(([to, known]): [string, Map<string, number>] => {
      const last = ways.flatMap((way) =>
        (between(way.to, to) ?? -1) < 0 ? [] : way.events + (between(way.to, to) as number) - way.round,
      );
      const longer = begins.flatMap((from): [string, number][] => {
        const arrived = between(from, decision);
        if (arrived === undefined || last.length === 0) return [];
        return [[from, Math.max(known.get(from) ?? 0, arrived + rounds + Math.max(...last))]];
      });
      return [to, new Map([...known, ...longer])];
    });
    for (const [to, known] of improved) longest.set(to, known);
  }
  return between(entry, frameEnd) ?? 0;
}

/** Returns the most events on paths without loops from each of `begins` to `target`; absent if there is no path. */
function longestTo(target: string, onward: Ways, begins: readonly string[]): Map<string, number> {
  const known = new Map([[target, 0]]);
  const eventsTo = (to: Target) => {
    if (to !== null && onward.has(to)) return known.get(to);
    return target === frameEnd ? 0 : undefined;
  };
  for (const id of lastToFirst(begins, (one) => (one === target ? [] : nextOf(one, onward)))) {
    if (id === target) continue;
    const sums = (onward.get(id) ?? []).flatMap(({ events, to }) => {
      const after = eventsTo(to);
      return after === undefined ? [] : [events + after];
    });
    if (sums.length > 0) known.set(id, Math.max(...sums));
  }
  return new Map(begins.flatMap((id): [string, number][] => (known.has(id) ? [[id, known.get(id) as number]] : [])));
}

function nextOf(id: string, onward: Ways): string[] {
  return (onward.get(id) ?? []).flatMap(({ to }) => (to !== null && onward.has(to) ? [to] : []));
}
