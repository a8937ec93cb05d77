import { type Edge, type Finding, finding, nodeIndex, type Workflow } from "@nova/workflow";
import { countEvents } from "../events/count-events.ts";
import { historyLimit } from "../events/state-events.ts";
import { lower } from "../lower/lower.ts";

/** Edges that are looked at one by one for the loop that makes most of the events. */
const mostLooked = 20;

/** NOVA702 where loops make the longest way through a workflow longer than Step Functions takes. Maps have one item. */
export function checkEvents(workflow: Workflow): Finding[] {
  const count = (one: Workflow) => countEvents(lower(one), () => 1);
  const loops = [...nodeIndex(workflow).values()].flatMap(({ edges }) => edges.filter(({ max }) => max !== undefined));
  if (loops.length === 0) return [];
  const events = count(workflow);
  if (events <= historyLimit) return [];
  const longest = loops
    .toSorted((a, b) => (b.max ?? 0) - (a.max ?? 0))
    .slice(0, mostLooked)
    .map((edge) => ({ edge, events: count(withOneRound(workflow, edge)) }))
    .reduce((a, b) => (b.events < a.events ? b : a)).edge;
  const many = (number: number) => number.toLocaleString("en");
  const bound = `a run may make up to ${many(events)} events, and Step Functions ends it at ${many(historyLimit)}`;
  const loop = `the loop from "${longest.from}" to "${longest.to}", up to ${longest.max} times, makes most of them`;
  return [finding("NOVA702", "$.edges", `${bound}; ${loop} - lower its max, or repeat inside of one node's Python`)];
}

/** The same with this edge taken once only. */
function withOneRound<Part>(part: Part, edge: Edge): Part {
  if (part === edge) return { ...part, max: 1 };
  if (Array.isArray(part)) return part.map((one) => withOneRound(one, edge)) as Part;
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, withOneRound(value, edge)])) as Part;
}
