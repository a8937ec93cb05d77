import { canReach, graphOf, reachableFrom } from "@nova/workflow";
import type { Plan, PlannedFrame, PlannedMap } from "../lower/plan.ts";
import { countEvents, itemEvents, stretchEvents } from "./count-events.ts";
import { continues } from "./history-budget.ts";
import { historyLimit, waysOf } from "./ways.ts";

/** The rest is for what is not counted: retries, and Lambdas that die after their commit. */
const shareForItems = 0.8;

/** Where loops go on in further executions: the more one round may need, the sooner they do. */
const shareBetweenLoops = 0.4;

/** Of a map in the body of a map: as many as an inline Map runs at once (AWS Step Functions, "Inline mode"). */
const nestedItems = 40;

/** How many items a map in the body of a map may have: what one history has room for. */
export function maxItemsInBody(map: PlannedMap): number {
  return Math.floor((historyLimit * shareForItems) / itemEvents(map, () => 1));
}

const limits = new WeakMap<Plan, ReadonlyMap<string, number>>();

/** How many items a map may have inline: the maps share what the rest of the plan leaves of a history. */
export function inlineItems(plan: Plan, mapId: string): number {
  const known = limits.get(plan) ?? limitsOf(plan);
  limits.set(plan, known);
  const limit = known.get(mapId);
  if (limit === undefined) throw new RangeError(`the plan has no map "${mapId}"`);
  return limit;
}

function limitsOf(plan: Plan): ReadonlyMap<string, number> {
  const isRenewed = continues(plan);
  const maps = [...mapsIn(plan.main, { isNested: false, rounds: 1 }, isRenewed)];
  const outer = maps.filter(({ isNested }) => !isNested).length;
  const used = isRenewed ? stretchEvents(plan, () => 0) : countEvents(plan, () => 0);
  const left = Math.max(0, historyLimit - used) * (isRenewed ? shareBetweenLoops : shareForItems);
  return new Map(
    maps.map(({ map, isNested, rounds }) => {
      const events = () => rounds * itemEvents(map, () => nestedItems);
      return [map.id, isNested ? nestedItems : Math.floor(left / outer / events())];
    }),
  );
}

interface Place {
  isNested: boolean;
  /** How often a run comes there at most. */
  rounds: number;
}

/** `isRenewed`: each round of the frame's own loops finds room in a history of its own. */
function* mapsIn(
  frame: PlannedFrame,
  { isNested, rounds }: Place,
  isRenewed = false,
): Iterable<Place & { map: PlannedMap }> {
  const own = isRenewed ? new Map<string, number>() : roundsIn(frame);
  for (const node of frame.nodes) {
    const here: Place = { isNested, rounds: rounds * (own.get(node.id) ?? 1) };
    if ("fork" in node && node.fork) for (const branch of node.fork.branches) yield* mapsIn(branch, here);
    if (node.type !== "map") continue;
    yield { map: node, ...here };
    yield* mapsIn(node.body, { ...here, isNested: true });
  }
}

/** How often a run comes to each node of a frame at most, by its loops alone; absent: once. */
function roundsIn({ nodes }: PlannedFrame): ReadonlyMap<string, number> {
  const ways = nodes.flatMap((node) =>
    waysOf(node, "inner", 0).flatMap(({ to, max }) => (to === null ? [] : [{ from: node.id, to, max }])),
  );
  const points = nodes.map(({ id }) => ({ id }));
  const graph = graphOf(points, ways);
  const rounds = new Map<string, number>();
  for (const { from, to, max } of ways) {
    if (max === undefined) continue;
    // Each loop inside of another, or behind one, goes round completely each time: they multiply.
    const around = reachableFrom(graph, [to]).intersection(canReach(graph, [from]));
    for (const id of around) rounds.set(id, (rounds.get(id) ?? 1) * (max + 1));
  }
  return rounds;
}
