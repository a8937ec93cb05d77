import type { PlannedFrame, PlannedNode } from "../lower/plan.ts";
import { waysOf } from "./ways.ts";

/** How often a run comes to each node of a frame at most, by its loops alone; absent: once. */
export function roundsIn({ nodes }: PlannedFrame): ReadonlyMap<string, number> {
  const ways = nodes.flatMap((node) => waysFrom(node));
  const loops = ways.flatMap(({ from, to, max }) => (max === undefined ? [] : [{ from, to, max }]));
  const rounds = new Map<string, number>();
  if (loops.length === 0) return rounds;
  const onward = ways.filter(({ max }) => max === undefined);
  const ahead = grouped(onward.map(({ from, to }) => [from, to]));
  const behind = grouped(onward.map(({ from, to }) => [to, from]));
  for (const { from, to, max } of loops) {
    const leading = reach(from, behind);
    // Each loop inside of another goes round completely each time: they multiply.
    for (const id of reach(to, ahead)) if (leading.has(id)) rounds.set(id, (rounds.get(id) ?? 1) * (max + 1));
  }
  return rounds;
}

function waysFrom(node: PlannedNode): { from: string; to: string; max: number | undefined }[] {
  return waysOf(node, "inner", 0).flatMap(({ to, max }) => (to === null ? [] : [{ from: node.id, to, max }]));
}

function grouped(pairs: [string, string][]): ReadonlyMap<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [from, to] of pairs) {
    const group = groups.get(from);
    if (group) group.push(to);
    else groups.set(from, [to]);
  }
  return groups;
}

function reach(from: string, ways: ReadonlyMap<string, string[]>): ReadonlySet<string> {
  const reached = new Set([from]);
  for (const id of reached) for (const next of ways.get(id) ?? []) reached.add(next);
  return reached;
}
