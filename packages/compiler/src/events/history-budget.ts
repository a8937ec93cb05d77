import { canReach, type EntryEvents, graphOf, type HistoryBudget, joinOf, reachableFrom } from "@nova/workflow";
import type { Plan, PlannedFork, PlannedFrame, PlannedMap, PlannedNode } from "../lower.ts";
import {
  countEvents,
  countedEdges,
  exitEvents,
  type FrameKind,
  historyLimit,
  type ItemsOf,
  itemEvents,
  settle,
  startEvents,
  stateEvents,
  stretchEvents,
} from "./count-events.ts";

/**
 * The largest number of loops whose events the compiler counts. For more nested loops, the count would take seconds, so
 * the compiler assumes that the workflow exceeds a history.
 */
const maxCounted = 100;

const known = new WeakMap<Plan, boolean>();

/** True if loops of the main line may need more events than one history allows. */
export function needsContinuation(plan: Plan): boolean {
  const answer = known.get(plan) ?? needsMore(plan);
  known.set(plan, answer);
  return answer;
}

function needsMore(plan: Plan): boolean {
  const ways = plan.main.nodes.flatMap((node) => ("branches" in node ? node.branches : []));
  const agents = plan.main.nodes.filter(({ type }) => type === "agent").length;
  const loops = ways.filter(({ max }) => max !== undefined).length + agents;
  return loops > 0 && (loops > maxCounted || countEvents(plan, () => 1) > historyLimit);
}

const { parallel, map, mapRun, iteration, pass, task, choice } = stateEvents;

/** The share of a history that counted events may fill. The rest is for retries, and for Lambdas that die after their commit. */
const countedShare = 0.8;

/**
 * Returns the budget of a run. While a run has fewer events than `most`, one more round of a loop always fits into the
 * history. Tests pass their own `most`.
 */
export function historyBudget(plan: Plan, itemsOf: ItemsOf, most?: number): HistoryBudget {
  const left = Math.max(0, historyLimit - stretchEvents(plan, itemsOf)) * countedShare;
  return {
    most: most ?? Math.floor(left),
    begun: startEvents(plan),
    settled: settle,
    entries: Object.fromEntries(entriesIn(plan.main, "main", itemsOf)),
  };
}

function* entriesIn(frame: PlannedFrame, kind: FrameKind, itemsOf?: ItemsOf): Iterable<[string, EntryEvents]> {
  for (const node of frame.nodes) {
    yield [node.id, { own: ownEvents(node, kind) }];
    if ("fork" in node && node.fork) yield* forkEntries(node.fork, itemsOf);
    if (node.type === "map") yield* mapEntries(node, itemsOf);
    if (node.type === "agent") {
      yield [joinOf(node.id), { own: map + join, each: iteration + choice + pass }];
      for (const tool of node.tools) yield* entriesIn(tool, "inner");
    }
  }
}

/** Counts the events of a node up to its first edge, if nothing fails. `ends` has the events at the end of a branch. */
function ownEvents(node: PlannedNode, kind: FrameKind): number {
  const [way] = countedEdges(node, kind, 0);
  return way ? way.events - exitEvents(way.to) : 0;
}

const join = task + choice;
/** The number of events of the first and the last state of a branch. */
const ends = pass + pass;

function* forkEntries({ node, branches }: PlannedFork, itemsOf?: ItemsOf): Iterable<[string, EntryEvents]> {
  yield [joinOf(node), { own: parallel + join, each: ends }];
  for (const branch of branches) yield* entriesIn(branch, "inner", itemsOf);
}

/**
 * Yields the events of a map and of the nodes in its body. Without `itemsOf`, the map is in the body of another map and
 * runs inline.
 */
function* mapEntries(node: PlannedNode & { type: "map" }, itemsOf?: ItemsOf): Iterable<[string, EntryEvents]> {
  const own = choice + map + mapRun + join;
  yield [joinOf(node.id), { own, each: iteration + ends, ...(itemsOf && { inlineItems: itemsOf(node) }) }];
  yield* entriesIn(node.body, "inner");
}

/** The share of a history that items may fill. The rest is for retries, and for Lambdas that die after their commit. */
const shareForItems = 0.8;

/**
 * The share of a history that items may fill if loops continue in further executions. It is smaller than
 * `shareForItems`, so that more rounds of loops fit into one history.
 */
const shareBetweenLoops = 0.4;

/**
 * The number of items that the compiler assumes for a map in the body of another map. An inline Map runs so many items
 * at once (AWS Step Functions, "Inline mode").
 */
const nestedItems = 40;

/**
 * Returns the largest number of items that a map in the body of another map may have. These items share one history.
 */
export function maxItemsInBody(map: PlannedMap): number {
  return Math.floor((historyLimit * shareForItems) / itemEvents(map, () => 1));
}

const limits = new WeakMap<Plan, ReadonlyMap<string, number>>();

/**
 * Returns the number of items that a map may run inline. All maps share the part of the history that other nodes do not
 * fill.
 */
export function inlineItems(plan: Plan, mapId: string): number {
  const known = limits.get(plan) ?? limitsOf(plan);
  limits.set(plan, known);
  const limit = known.get(mapId);
  if (limit === undefined) throw new RangeError(`the plan has no map "${mapId}"`);
  return limit;
}

function limitsOf(plan: Plan): ReadonlyMap<string, number> {
  const isRenewed = needsContinuation(plan);
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

interface MapSite {
  isNested: boolean;
  /** The largest number of times that a run visits the map. */
  rounds: number;
}

/**
 * Yields every map in the given nodes, and in their branches and bodies, with the number of its visits. With
 * `isRenewed`, loops between the given nodes do not count, because each round of these loops may get a new history.
 */
function* mapsIn(
  frame: PlannedFrame,
  { isNested, rounds }: MapSite,
  isRenewed = false,
): Iterable<MapSite & { map: PlannedMap }> {
  const own = isRenewed ? new Map<string, number>() : roundsIn(frame);
  for (const node of frame.nodes) {
    const here: MapSite = { isNested, rounds: rounds * (own.get(node.id) ?? 1) };
    if ("fork" in node && node.fork) for (const branch of node.fork.branches) yield* mapsIn(branch, here);
    if (node.type !== "map") continue;
    yield { map: node, ...here };
    yield* mapsIn(node.body, { ...here, isNested: true });
  }
}

/**
 * Returns how often loops may visit each of the given nodes. Leaves out nodes in branches and bodies, and nodes outside
 * all loops, which have one visit.
 */
function roundsIn({ nodes }: PlannedFrame): ReadonlyMap<string, number> {
  const ways = nodes.flatMap((node) =>
    countedEdges(node, "inner", 0).flatMap(({ to, max }) => (to === null ? [] : [{ from: node.id, to, max }])),
  );
  const points = nodes.map(({ id }) => ({ id }));
  const graph = graphOf(points, ways);
  const rounds = new Map<string, number>();
  for (const { from, to, max } of ways) {
    if (max === undefined) continue;
    // If two loops have nodes in common, each round of one loop may contain all rounds of the other loop. So this code
    // multiplies the numbers of rounds.
    const around = reachableFrom(graph, [to]).intersection(canReach(graph, [from]));
    for (const id of around) rounds.set(id, (rounds.get(id) ?? 1) * (max + 1));
  }
  return rounds;
}
