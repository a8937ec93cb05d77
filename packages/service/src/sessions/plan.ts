import { Context, type Member, membersOf, type OutcomeAt } from "@nova/engine";
import { Refused } from "../errors.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Session } from "../ports/sessions.ts";
import { contextBefore, frontOf } from "./compose.ts";
import { isInput, nodeOf } from "./draft.ts";
import { type Part, partAlone, partFrom } from "./part.ts";
import { type Shape, shapeOf } from "./shape.ts";
import { type Standing, standings } from "./standing.ts";
import { valuesOfAll } from "./values.ts";

/** What is to run, and what it finds. */
export interface Plan {
  part: Part;
  runs: string[];
  reused: string[];
  context: Context;
  /** Members of the context that the caller gave for this run alone: what comes of it is no output of the draft. */
  extra?: readonly Member[];
  /** What nodes have come to that do not run, by their ids. */
  given: ReadonlyMap<string, OutcomeAt>;
}

/** A session as a run finds it. */
export interface Stand {
  shape: Shape;
  standings: ReadonlyMap<string, Standing>;
  values: ReadonlyMap<string, OutcomeAt>;
}

export async function standOf(ports: ServicePorts, { state }: Session): Promise<Stand> {
  const shape = shapeOf(state.draft);
  const all = standings(state, shape);
  const values = await valuesOfAll(
    ports,
    Array.from(all, ([id, { outcome }]) => [id, outcome] as const),
  );
  return { shape, standings: all, values };
}

/** The stale part of a draft, all that lies behind the first stale node. Throws `Refused` for a draft that cannot run. */
export function stalePart({ state }: Pick<Session, "state">, { shape, standings, values }: Stand): Plan | null {
  const [problem] = shape.findings.filter(({ severity }) => severity === "error");
  if (!shape.graph) throw new Refused(problem?.message ?? "the draft has no node that could run", shape.findings);
  const empty = new Set(state.draft.nodes.flatMap((node) => (isInput(node) && !values.has(node.id) ? [node.id] : [])));
  const counting = (id: string) => {
    const { state, isSkipped } = standings.get(id) ?? {};
    if (state !== "fresh" || isSkipped) return undefined;
    return empty.has(id) ? nothing : values.get(id);
  };
  const begin = contextOf(state.context);
  const front = frontOf(shape.graph, counting, begin);
  if (!front) return null;
  const part = partFrom(state.draft, shape, front);
  const counted = [...front.passed, ...part.steps.filter((id) => counting(id))];
  const runs = part.steps.filter((id) => !counting(id) && !standings.get(id)?.isSkipped);
  const reused = counted.filter((id) => !empty.has(id));
  // An empty input inside the part needs an outcome: a node without one would run.
  const given = pick(reused, values);
  for (const id of part.steps) if (empty.has(id)) given.set(id, nothing);
  return { part, runs, reused: inOrder(reused, shape), context: front.context, given };
}

/** The outcome of an input that has no output. */
const nothing: OutcomeAt = { set: [], delete: [], decision: null };

/** One node alone. Throws `NotFound`, `Refused`. */
export function onePart({ state }: Pick<Session, "state">, { shape, values }: Stand, id: string): Plan {
  const node = nodeOf(state.draft, id);
  if (!shape.before.has(id)) throw new Refused(`node "${id}" is of type ${node.type}, which does nothing by itself`);
  const begin = contextOf(state.context);
  const front = shape.graph && contextBefore(shape.graph, id, (one) => values.get(one), begin);
  const { context = begin, passed = [] } = front ?? {};
  return {
    part: partAlone(state.draft, shape, node, inOrder(passed, shape)),
    runs: [id],
    reused: inOrder(passed, shape),
    context,
    given: pick(passed, values),
  };
}

function contextOf(text: string): Context {
  return new Context().apply({ set: membersOf(text), delete: [] }, 0);
}

function inOrder(ids: readonly string[], { order }: Shape): string[] {
  const wanted = new Set(ids);
  return order.filter((id) => wanted.has(id));
}

function pick<T>(ids: readonly string[], all: ReadonlyMap<string, T>): Map<string, T> {
  return new Map(ids.flatMap((id) => (all.has(id) ? [[id, all.get(id) as T] as const] : [])));
}
