import {
  loopTargets,
  type Plan,
  type PlannedFork,
  type PlannedFrame,
  type PlannedMap,
  type PlannedNode,
} from "../lower/plan.ts";
import { longestWay } from "./longest-way.ts";
import { type FrameKind, stateEvents, waysOf } from "./ways.ts";

const { execution, parallel, map, mapRun, iteration, pass, task, choice } = stateEvents;

/** Items whose bodies are in the history of the execution itself, by map. */
export type ItemsOf = (map: PlannedMap) => number;

/** The most events of an execution, whatever it decides and whatever fails, if no task dies or is retried. */
export function countEvents(plan: Plan, itemsOf: ItemsOf): number {
  return execution + frameEvents(plan.main, "main", itemsOf);
}

/** The same between two handovers to a further execution: loops of the main line go round once. */
export function stretchEvents(plan: Plan, itemsOf: ItemsOf): number {
  const waysOn = new Map(
    plan.main.nodes.map((node) => {
      const ways = waysOf(node, "main", insideOf(node, itemsOf));
      return [node, ways.map(({ events, to, max }) => ({ events, to: max ? null : to }))];
    }),
  );
  const begins = [plan.main.entry, ...loopTargets(plan.main)];
  const longest = begins.map((entry) => longestWay({ ...plan.main, entry }, (node) => waysOn.get(node) ?? []));
  return begun(plan) + Math.max(...longest);
}

/** What every execution of a plan begins with whose loops go on in further ones, and its end. */
export function begun({ main }: Plan): number {
  return execution + choice + (main.nodes.some(({ type }) => type === "start") ? pass : 0);
}

/** The most events of one item. */
export function itemEvents(node: PlannedMap, itemsOf: ItemsOf): number {
  return iteration + pass + frameEvents(node.body, "inner", itemsOf);
}

function frameEvents(frame: PlannedFrame, kind: FrameKind, itemsOf: ItemsOf): number {
  return longestWay(frame, (node) => waysOf(node, kind, insideOf(node, itemsOf)));
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
