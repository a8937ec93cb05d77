import {
  loopTargets,
  type Plan,
  type PlannedFork,
  type PlannedFrame,
  type PlannedMap,
  type PlannedNode,
} from "../lower/plan.ts";
import { countedEdges, type FrameKind, stateEvents } from "./counted-edges.ts";
import { longestPath } from "./longest-path.ts";

const { execution, parallel, map, mapRun, iteration, pass, task, choice } = stateEvents;

/** The number of items whose bodies are in the history of the execution, by map. */
export type ItemsOf = (map: PlannedMap) => number;

/** Counts the most events of an execution over all decisions and failures, if no task dies or is retried. */
export function countEvents(plan: Plan, itemsOf: ItemsOf): number {
  return execution + frameEvents(plan.main, "main", itemsOf);
}

/** Counts the most events between two further executions: each loop of the main line runs once. */
export function stretchEvents(plan: Plan, itemsOf: ItemsOf): number {
  const waysOn = new Map(
    plan.main.nodes.map((node) => {
      const ways = countedEdges(node, "main", insideOf(node, itemsOf));
      return [node, ways.map(({ events, to, max }) => ({ events, to: max ? null : to }))];
    }),
  );
  const begins = [plan.main.entry, ...loopTargets(plan.main)];
  const longest = begins.map((entry) => longestPath({ ...plan.main, entry }, (node) => waysOn.get(node) ?? []));
  return startEvents(plan) + Math.max(...longest);
}

/** Events at the start and end of every execution, if the plan's loops continue in further executions. */
export function startEvents({ main }: Plan): number {
  return execution + choice + (main.nodes.some(({ type }) => type === "start") ? pass : 0);
}

/** The most events of one item. */
export function itemEvents(node: PlannedMap, itemsOf: ItemsOf): number {
  return iteration + pass + frameEvents(node.body, "inner", itemsOf);
}

function frameEvents(frame: PlannedFrame, kind: FrameKind, itemsOf: ItemsOf): number {
  return longestPath(frame, (node) => countedEdges(node, kind, insideOf(node, itemsOf)));
}

const join = task + choice;

function insideOf(node: PlannedNode, itemsOf: ItemsOf): number {
  const forked = "fork" in node && node.fork ? forkEvents(node.fork, itemsOf) : 0;
  if (node.type !== "map") return forked;
  return choice + map + mapRun + itemsOf(node) * itemEvents(node, itemsOf) + join + forked;
}

function forkEvents({ branches }: PlannedFork, itemsOf: ItemsOf): number {
  const each = branches.map((branch) => pass + frameEvents(branch, "inner", itemsOf));
  return parallel + each.reduce((sum, events) => sum + events, 0) + join;
}
