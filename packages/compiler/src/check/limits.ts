import { type Edge, type Finding, finding, nodeIndex, type Workflow } from "@nova/workflow";
import { countEvents, stretchEvents } from "../events/count-events.ts";
import { historyLimit } from "../events/counted-edges.ts";
import { needsContinuation } from "../events/history-budget.ts";
import { lower } from "../lower/lower.ts";
import type { Plan } from "../lower/plan.ts";

/** AWS Step Functions, quotas: the largest size of a definition. */
export const definitionLimitBytes = 1_048_576;

/** NOVA701: the definition exceeds the limit of Step Functions. `nodes` is the number of nodes of the workflow. */
export function checkSize(definition: string, nodes: number): Finding[] {
  const bytes = Buffer.byteLength(definition);
  if (bytes <= definitionLimitBytes) return [];
  const fitting = Math.floor(definitionLimitBytes / (bytes / nodes));
  const size = `the state machine of ${nodes} nodes has ${bytes.toLocaleString("en")} bytes`;
  const limit = `Step Functions takes ${definitionLimitBytes.toLocaleString("en")}`;
  const message = `${size}, ${limit} - about ${fitting} nodes like these fit; divide the workflow, or shorten descriptions`;
  return [finding("NOVA701", "$.nodes", message)];
}

/** The search for the loop with the most events tries at most this number of edges. */
const maxLooked = 20;

/** NOVA702: the loops make the longest path too long for one history, and further executions do not help. */
export function checkEvents(workflow: Workflow): Finding[] {
  const loops = [...nodeIndex(workflow).values()].flatMap(({ edges }) => edges.filter(({ max }) => max !== undefined));
  if (loops.length === 0) return [];
  const events = maxEventsAtOnce(workflow);
  if (events <= historyLimit) return [];
  const longest = loops
    .toSorted((a, b) => (b.max ?? 0) - (a.max ?? 0))
    .slice(0, maxLooked)
    .map((edge) => ({ edge, events: maxEventsAtOnce(withOneRound(workflow, edge)) }))
    .reduce((a, b) => (b.events < a.events ? b : a));
  const many = (number: number) => number.toLocaleString("en");
  const bound = `a run may make up to ${many(events)} events, and Step Functions ends it at ${many(historyLimit)}`;
  return [finding("NOVA702", "$.edges", `${bound}; ${adviceOn(longest.edge, longest.events < events)}`)];
}

function adviceOn({ from, to, max }: Edge, isLoop: boolean): string {
  if (!isLoop)
    return `one round of the loop from "${from}" to "${to}" is too long - move part of it to another workflow`;
  const loop = `the loop from "${from}" to "${to}", up to ${max} times, makes most of them`;
  return `${loop} - lower its max, or repeat inside of one node's Python`;
}

/** The largest number of events in one history. */
function maxEventsAtOnce(workflow: Workflow): number {
  const plan: Plan = lower(workflow);
  return needsContinuation(plan) ? stretchEvents(plan, () => 1) : countEvents(plan, () => 1);
}

/** Returns a copy of the workflow or part with a single round of this edge. */
function withOneRound<Part>(part: Part, edge: Edge): Part {
  if (part === edge) return { ...part, max: 1 };
  if (Array.isArray(part)) return part.map((one) => withOneRound(one, edge)) as Part;
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, withOneRound(value, edge)])) as Part;
}
