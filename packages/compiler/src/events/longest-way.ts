import { lastToFirst } from "@nova/workflow";
import type { PlannedFrame, PlannedNode, Way } from "../lower/plan.ts";

/** A way out of a node, with what taking it costs. Null: nothing of the frame follows. */
export interface CountedWay {
  events: number;
  to: Way;
  /** It leads back, so often. */
  max?: number;
}

type Ways = ReadonlyMap<string, CountedWay[]>;

/** What lies behind all ways; no node has such an id. */
const frameEnd = "(end)";

/** The most events on any way through a frame. A ring without `max`, which `onError` can make, counts once. */
export function longestWay({ entry, nodes }: PlannedFrame, waysOf: (node: PlannedNode) => CountedWay[]): number {
  const all = nodes.map((node): [string, CountedWay[]] => [node.id, waysOf(node)]);
  const onward = new Map(all.map(([id, ways]) => [id, ways.filter(({ max }) => max === undefined)]));
  const loops = new Map(
    all.flatMap(([id, ways]): [string, CountedWay[]][] => {
      const back = ways.filter(({ max }) => max !== undefined);
      return back.length > 0 ? [[id, back]] : [];
    }),
  );
  if (loops.size === 0) return longestTo(frameEnd, onward, [entry]).get(entry) ?? 0;
  return withLoops(entry, onward, loops);
}

/**
 * Every way is a row of ways that only lead on, each but the last from a decision back. A decision that comes before
 * another goes round completely each time it is come to, so they are taken in one after the other, as in the algorithm
 * of Floyd and Warshall.
 */
function withLoops(entry: string, onward: Ways, loops: ReadonlyMap<string, CountedWay[]>): number {
  const begins = [...new Set([entry, ...[...loops.values()].flatMap((ways) => ways.map(({ to }) => String(to)))])];
  const deciding = lastToFirst(begins, (id) => nextOf(id, onward))
    .reverse()
    .filter((id) => loops.has(id));
  const longest = new Map([...deciding, frameEnd].map((to) => [to, longestTo(to, onward, begins)]));
  const between = (from: Way, to: string) => longest.get(to)?.get(String(from));
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

/** The most events on ways that lead on, from each of `begins` to `target`; absent: there is none. */
function longestTo(target: string, onward: Ways, begins: readonly string[]): Map<string, number> {
  const known = new Map([[target, 0]]);
  const eventsTo = (to: Way) => {
    if (to !== null && onward.has(to)) return known.get(to);
    return target === frameEnd ? 0 : undefined;
  };
  for (const id of lastToFirst(begins, (one) => (one === target ? [] : nextOf(one, onward)))) {
    if (id === target) continue;
    const sums = (onward.get(id) ?? []).flatMap(({ events, to }) => {
      const behind = eventsTo(to);
      return behind === undefined ? [] : [events + behind];
    });
    if (sums.length > 0) known.set(id, Math.max(...sums));
  }
  return new Map(begins.flatMap((id): [string, number][] => (known.has(id) ? [[id, known.get(id) as number]] : [])));
}

function nextOf(id: string, onward: Ways): string[] {
  return (onward.get(id) ?? []).flatMap(({ to }) => (to !== null && onward.has(to) ? [to] : []));
}
