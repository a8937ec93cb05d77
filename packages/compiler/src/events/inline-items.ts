import type { Plan, PlannedFrame, PlannedMap } from "../lower/plan.ts";
import { countEvents, itemEvents } from "./count-events.ts";
import { historyLimit } from "./state-events.ts";

/** The rest is for what is not counted: retries, and Lambdas that die after their commit. */
const shareForItems = 0.8;

/** Of a map in the body of a map: as many as an inline Map runs at once (AWS Step Functions, "Inline mode"). */
const nestedItems = 40;

const limits = new WeakMap<Plan, ReadonlyMap<string, number>>();

/**
 * How many items a map may have without its execution running into the limit of history events. Maps that are not in
 * one another share what the rest of the plan leaves, as if every run came to all of them.
 */
export function inlineItems(plan: Plan, mapId: string): number {
  const known = limits.get(plan) ?? limitsOf(plan);
  limits.set(plan, known);
  const limit = known.get(mapId);
  if (limit === undefined) throw new RangeError(`the plan has no map "${mapId}"`);
  return limit;
}

function limitsOf(plan: Plan): ReadonlyMap<string, number> {
  const maps = [...mapsIn(plan.main, false)];
  const outer = new Set(maps.flatMap(({ map, isNested }) => (isNested ? [] : [map.id])));
  const eventsOf = hasLoops(plan.main)
    ? (map: PlannedMap) => eventsOfItem(plan, map.id, outer)
    : (map: PlannedMap) => itemEvents(map, () => nestedItems);
  const left = Math.max(0, historyLimit - countEvents(plan, () => 0)) * shareForItems;
  return new Map(
    maps.map(({ map, isNested }) => {
      const limit = () => Math.floor(left / outer.size / eventsOf(map));
      return [map.id, isNested ? nestedItems : limit()];
    }),
  );
}

/** So many that the longest way goes through their map. */
const manyItems = 1_000_000;

/** The most events that one item more makes: each time that a loop comes to the map there is one more. */
function eventsOfItem(plan: Plan, id: string, outer: ReadonlySet<string>): number {
  const withItems = (count: number) =>
    countEvents(plan, (map) => (map.id === id ? count : outer.has(map.id) ? 0 : nestedItems));
  return Math.ceil((withItems(manyItems) - withItems(0)) / manyItems);
}

/** Whether a run may come to a map more than once; loops in its body are in what an item makes. */
function hasLoops({ nodes }: PlannedFrame): boolean {
  return nodes.some(
    (node) =>
      ("branches" in node && node.branches.some(({ max }) => max !== undefined)) ||
      ("fork" in node && node.fork?.branches.some(hasLoops)),
  );
}

function* mapsIn({ nodes }: PlannedFrame, isNested: boolean): Iterable<{ map: PlannedMap; isNested: boolean }> {
  for (const node of nodes) {
    if ("fork" in node && node.fork) for (const branch of node.fork.branches) yield* mapsIn(branch, isNested);
    if (node.type !== "map") continue;
    yield { map: node, isNested };
    yield* mapsIn(node.body, true);
  }
}
