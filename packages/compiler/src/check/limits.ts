import { type Edge, type Finding, finding, nodeIndex, type Workflow } from "@nova/workflow";
import { countEvents, stretchEvents } from "../events/count-events.ts";
import { continues } from "../events/history-budget.ts";
import { historyLimit } from "../events/ways.ts";
import { lower } from "../lower/lower.ts";
import type { Plan } from "../lower/plan.ts";

/** AWS Step Functions, quotas: a definition's largest size. */
export const definitionLimitBytes = 1_048_576;

/** NOVA701 where the definition is more than Step Functions takes; `nodes` is how many the workflow has. */
export function checkSize(definition: string, nodes: number): Finding[] {
  const bytes = Buffer.byteLength(definition);
  if (bytes <= definitionLimitBytes) return [];
  const fitting = Math.floor(definitionLimitBytes / (bytes / nodes));
  const size = `the state machine of ${nodes} nodes has ${bytes.toLocaleString("en")} bytes`;
  const limit = `Step Functions takes ${definitionLimitBytes.toLocaleString("en")}`;
  const message = `${size}, ${limit} - about ${fitting} nodes like these fit; divide the workflow, or shorten descriptions`;
  return [finding("NOVA701", "$.nodes", message)];
}

/** Edges that are looked at one by one for the loop that makes most of the events. */
const maxLooked = 20;

/** NOVA702 where loops make the longest way too long for a history, and further executions are no help. */
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
  if (!isLoop) return `once round the loop from "${from}" to "${to}" is too long - move part of it to another workflow`;
  const loop = `the loop from "${from}" to "${to}", up to ${max} times, makes most of them`;
  return `${loop} - lower its max, or repeat inside of one node's Python`;
}

/** The most events that one history may come to have. */
function maxEventsAtOnce(workflow: Workflow): number {
  const plan: Plan = lower(workflow);
  return continues(plan) ? stretchEvents(plan, () => 1) : countEvents(plan, () => 1);
}

/** The same with this edge taken once only. */
function withOneRound<Part>(part: Part, edge: Edge): Part {
  if (part === edge) return { ...part, max: 1 };
  if (Array.isArray(part)) return part.map((one) => withOneRound(one, edge)) as Part;
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, withOneRound(value, edge)])) as Part;
}
