import { type EntryEvents, type HistoryBudget, joinOf } from "@nova/workflow";
import type { Plan, PlannedFork, PlannedFrame, PlannedNode } from "../lower/plan.ts";
import { countEvents, type ItemsOf, startEvents, stretchEvents } from "./count-events.ts";
import { countedEdges, exitEvents, type FrameKind, historyLimit, settle, stateEvents } from "./counted-edges.ts";

/** Counting this number of nested loops would take seconds, so more loops are assumed to exceed the limit. */
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
  const loops = ways.filter(({ max }) => max !== undefined).length;
  return loops > 0 && (loops > maxCounted || countEvents(plan, () => 1) > historyLimit);
}

const { parallel, map, mapRun, iteration, pass, task, choice } = stateEvents;

/** The rest is for uncounted events: retries, and Lambdas that die after their commit. */
const countedShare = 0.8;

/** Returns the budget of a run; `most` is for tests. After a loop edge, at least one more round fits. */
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
  }
}

/** Counts the events of a node's first edge, on which nothing fails. The end of a branch is counted with the branch. */
function ownEvents(node: PlannedNode, kind: FrameKind): number {
  const [way] = countedEdges(node, kind, 0);
  return way ? way.events - exitEvents(way.to) : 0;
}

const join = task + choice;
/** First and last state of a branch. */
const ends = pass + pass;

function* forkEntries({ node, branches }: PlannedFork, itemsOf?: ItemsOf): Iterable<[string, EntryEvents]> {
  yield [joinOf(node), { own: parallel + join, each: ends }];
  for (const branch of branches) yield* entriesIn(branch, "inner", itemsOf);
}

/** Maps in the body of another map always run their items inline. */
function* mapEntries(node: PlannedNode & { type: "map" }, itemsOf?: ItemsOf): Iterable<[string, EntryEvents]> {
  const own = choice + map + mapRun + join;
  yield [joinOf(node.id), { own, each: iteration + ends, ...(itemsOf && { inlineItems: itemsOf(node) }) }];
  yield* entriesIn(node.body, "inner");
}
