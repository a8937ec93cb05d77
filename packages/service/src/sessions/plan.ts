import { Context, type Member, membersOf, type OutcomeAt } from "@nova/engine";
import { Refused } from "../errors.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Session } from "../ports/sessions.ts";
import { buildContextBefore, findFront } from "./compose.ts";
import { isInput, nodeOf } from "./draft.ts";
import { buildDraftGraph, type DraftGraph } from "./draft-graph.ts";
import { judgeFreshness, type NodeFreshness } from "./freshness.ts";
import { type Part, partAlone, partFrom } from "./part.ts";
import { valuesOfAll } from "./values.ts";

/** The nodes to run and their context. */
export interface Plan {
  part: Part;
  runs: string[];
  reused: string[];
  context: Context;
  /** Context members that the caller sent for this run only. An outcome that used them is stale in the draft. */
  extra?: readonly Member[];
  /** Outcomes of nodes that do not run, by node id. */
  outcomes: ReadonlyMap<string, OutcomeAt>;
}

/** The state of a session at the start of a run. */
export interface SessionSnapshot {
  draftGraph: DraftGraph;
  freshness: ReadonlyMap<string, NodeFreshness>;
  values: ReadonlyMap<string, OutcomeAt>;
}

export async function readSnapshot(ports: ServicePorts, { state }: Session): Promise<SessionSnapshot> {
  const draftGraph = buildDraftGraph(state.draft);
  const all = judgeFreshness(state, draftGraph);
  const values = await valuesOfAll(
    ports,
    Array.from(all, ([id, { outcome }]) => [id, outcome] as const),
  );
  return { draftGraph, freshness: all, values };
}

/** Plans everything from the first stale node on; null if nothing is stale. Throws `Refused` for a draft that cannot run. */
export function planStaleNodes(
  { state }: Pick<Session, "state">,
  { draftGraph, freshness, values }: SessionSnapshot,
): Plan | null {
  const [problem] = draftGraph.findings.filter(({ severity }) => severity === "error");
  if (!draftGraph.graph)
    throw new Refused(problem?.message ?? "the draft has no node that could run", draftGraph.findings);
  const empty = new Set(state.draft.nodes.flatMap((node) => (isInput(node) && !values.has(node.id) ? [node.id] : [])));
  const counting = (id: string) => {
    const { state, isSkipped } = freshness.get(id) ?? {};
    if (state !== "fresh" || isSkipped) return undefined;
    return empty.has(id) ? emptyOutcome : values.get(id);
  };
  const begin = contextOf(state.context);
  const front = findFront(draftGraph.graph, counting, begin);
  if (!front) return null;
  const part = partFrom(state.draft, draftGraph, front);
  const counted = [...front.passed, ...part.steps.filter((id) => counting(id))];
  const runs = part.steps.filter((id) => !counting(id) && !freshness.get(id)?.isSkipped);
  const reused = counted.filter((id) => !empty.has(id));
  // An empty input inside the part needs an outcome: a node without one would run.
  const outcomes = pickKeys(reused, values);
  for (const id of part.steps) if (empty.has(id)) outcomes.set(id, emptyOutcome);
  return { part, runs, reused: sortByOrder(reused, draftGraph), context: front.context, outcomes };
}

/** The outcome of an input without an output. */
const emptyOutcome: OutcomeAt = { set: [], delete: [], decision: null };

/** Plans one node alone. Throws `NotFound`, `Refused`. */
export function planOneNode(
  { state }: Pick<Session, "state">,
  { draftGraph, values }: SessionSnapshot,
  id: string,
): Plan {
  const node = nodeOf(state.draft, id);
  if (!draftGraph.before.has(id))
    throw new Refused(`node "${id}" is of type ${node.type}, which does nothing by itself`);
  const begin = contextOf(state.context);
  const front = draftGraph.graph && buildContextBefore(draftGraph.graph, id, (one) => values.get(one), begin);
  const { context = begin, passed = [] } = front ?? {};
  return {
    part: partAlone(state.draft, draftGraph, node, sortByOrder(passed, draftGraph)),
    runs: [id],
    reused: sortByOrder(passed, draftGraph),
    context,
    outcomes: pickKeys(passed, values),
  };
}

function contextOf(text: string): Context {
  return new Context().apply({ set: membersOf(text), delete: [] }, 0);
}

function sortByOrder(ids: readonly string[], { order }: DraftGraph): string[] {
  const wanted = new Set(ids);
  return order.filter((id) => wanted.has(id));
}

function pickKeys<T>(ids: readonly string[], all: ReadonlyMap<string, T>): Map<string, T> {
  return new Map(ids.flatMap((id) => (all.has(id) ? [[id, all.get(id) as T] as const] : [])));
}
