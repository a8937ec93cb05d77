import { type EntryEvents, type HistoryBudget, joinOf } from "@nova/workflow";
import type { Plan, PlannedFork, PlannedFrame, PlannedNode } from "../lower/plan.ts";
import { begun, countEvents, type ItemsOf, stretchEvents } from "./count-events.ts";
import { exitOf, type FrameKind, historyLimit, settle, stateEvents, waysOf } from "./ways.ts";

/** To count how so many loops multiply would take seconds; they are taken to need more. */
const maxCounted = 100;

const known = new WeakMap<Plan, boolean>();

/** Whether loops of the main line may need more events than one history has room for. */
export function continues(plan: Plan): boolean {
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

/** The rest is for what is not counted: retries, and Lambdas that die after their commit. */
const countedShare = 0.8;

/** What a run counts by; `most` is for tests. At least one round has room behind a loop that leads back here. */
export function historyBudget(plan: Plan, itemsOf: ItemsOf, most?: number): HistoryBudget {
  const left = Math.max(0, historyLimit - stretchEvents(plan, itemsOf)) * countedShare;
  return {
    most: most ?? Math.floor(left),
    begun: begun(plan),
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

/** The first of a node's ways is one on which nothing fails; what ends a branch is counted with the branch. */
function ownEvents(node: PlannedNode, kind: FrameKind): number {
  const [way] = waysOf(node, kind, 0);
  return way ? way.events - exitOf(way.to) : 0;
}

const join = task + choice;
/** First and last state of a branch. */
const ends = pass + pass;

function* forkEntries({ node, branches }: PlannedFork, itemsOf?: ItemsOf): Iterable<[string, EntryEvents]> {
  yield [joinOf(node), { own: parallel + join, each: ends }];
  for (const branch of branches) yield* entriesIn(branch, "inner", itemsOf);
}

/** Maps in the body of another one always have their items inline. */
function* mapEntries(node: PlannedNode & { type: "map" }, itemsOf?: ItemsOf): Iterable<[string, EntryEvents]> {
  const own = choice + map + mapRun + join;
  yield [joinOf(node.id), { own, each: iteration + ends, ...(itemsOf && { inlineItems: itemsOf(node) }) }];
  yield* entriesIn(node.body, "inner");
}
