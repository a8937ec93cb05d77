import { conditionLabel, defaultLabel, type Finding, parseWorkflow, type Workflow } from "@nova/workflow";
import { LRUCache } from "lru-cache";
import type { Draft, DraftEdge, DraftNode, NodeOutcome } from "../ports/sessions.ts";
import { isStep, nextOf, sha256Of, shortList, stepsOf } from "./draft.ts";

/** How a draft runs: as the graph that it is, or its nodes one after the other. */
export interface Shape {
  kind: "graph" | "line";
  /** Why it is a line though it was drawn as a graph; null: it is none, or it was. */
  why: string | null;
  /** Ids of its steps, each behind those that it depends on. */
  order: string[];
  /** What leads to a step: all that a node finds came along these ways. */
  before: ReadonlyMap<string, readonly Way[]>;
  start: DraftNode;
  ends: DraftNode[];
  /** From the start to an end. */
  edges: DraftEdge[];
  /** Its graph without what its nodes do; absent where it is none that could run, which `findings` say. */
  graph?: Workflow;
  findings: Finding[];
}

/** One edge, or an `onError`. */
export interface Way {
  from: string;
  on: { kind: "always" } | { kind: "choice"; label: string; others: readonly string[] } | { kind: "failure" };
}

/** Of a draft that somebody looks at again and again while it stays the same. */
const shapes = new LRUCache<string, Shape>({ max: 50 });

/** Structure only, so it is there whatever else is wrong with the nodes. */
export function shapeOf(draft: Draft): Shape {
  const structure = {
    nodes: draft.nodes.map(({ id, type, onError, merge }) => ({ id, type, onError, merge })),
    edges: draft.edges,
  };
  const key = sha256Of(structure);
  const known = shapes.get(key) ?? readShape({ ...draft, nodes: structure.nodes as DraftNode[] });
  shapes.set(key, known);
  return known;
}

/** Ways part and meet in a form that no state machine has. */
const doesNotNest = new Set(["NOVA220", "NOVA221", "NOVA222", "NOVA223"]);

function readShape(draft: Draft): Shape {
  const order = orderOf(draft);
  const asGraph = framed(draft, draft.edges);
  const graph = parsed(asGraph, draft);
  const errors = graph.findings.filter(({ severity }) => severity === "error");
  const base = { order, start: asGraph.start, ends: asGraph.ends };
  const isPlain = draft.edges.every(({ condition }) => condition === undefined);
  const canBeLine = isPlain && draft.nodes.every(({ onError }) => onError === undefined);
  if (errors.length === 0 || !canBeLine || !errors.every(({ code }) => doesNotNest.has(code))) {
    const before = waysBefore(draft, draft.edges);
    return { ...base, kind: "graph", why: null, before, edges: asGraph.edges, ...graph };
  }
  const decisions = new Set(draft.nodes.filter(isDecision).map(({ id }) => id));
  const line = order.slice(1).map((to, index) => onwards(order[index] as string, to, decisions));
  const asLine = framed(draft, line);
  const why = `its branches do not nest (${errors[0]?.message}), so its nodes run one after the other: ${shortList(order)}`;
  return { ...base, kind: "line", why, before: waysBefore(draft, line), edges: asLine.edges, ...parsed(asLine, draft) };
}

/** Those that were there first come first. */
function orderOf(draft: Draft): string[] {
  const next = nextOf(draft);
  const waitsFor = new Map(draft.nodes.map(({ id }) => [id, 0]));
  for (const to of [...next.values()].flat()) waitsFor.set(to, (waitsFor.get(to) ?? 0) + 1);
  const order: string[] = [];
  const left = new Set(draft.nodes.map(({ id }) => id));
  for (;;) {
    const ready = [...left].find((id) => waitsFor.get(id) === 0) ?? [...left][0];
    if (ready === undefined) break;
    left.delete(ready);
    order.push(ready);
    for (const to of next.get(ready) ?? []) waitsFor.set(to, (waitsFor.get(to) ?? 1) - 1);
  }
  const steps = new Set(stepsOf(draft).map(({ id }) => id));
  return order.filter((id) => steps.has(id));
}

type Frame = Pick<Shape, "start" | "ends" | "edges">;

/** With a start in front of whatever nothing leads to, and an end behind whatever leads nowhere. */
function framed({ nodes }: Draft, edges: readonly DraftEdge[]): Frame {
  const free = (id: string): string => (nodes.some((node) => node.id === id) ? free(`${id}_`) : id);
  const isStart = ({ type }: DraftNode) => type === "start" || type === "StartNode";
  const start = nodes.find(isStart) ?? { id: free("start"), type: "start" };
  const drawn = nodes.filter((node) => !isStep(node) && !isStart(node));
  const steps = stepsOf({ nodes });
  const failures = new Set(steps.map(({ onError }) => onError));
  const entered = new Set(edges.map(({ to }) => to));
  const left = new Map(edges.map((edge) => [edge.from, edge]));
  const unreached = steps.filter(({ id }) => !entered.has(id) && !failures.has(id));
  const ends = drawn.length > 0 ? drawn : [{ id: free("end"), type: "end" }];
  const end = (ends[0] as DraftNode).id;
  const last = steps.filter(({ id }) => !left.has(id));
  const decisions = new Set(steps.filter(isDecision).map(({ id }) => id));
  return {
    start,
    ends,
    edges: [
      ...unreached.map(({ id }): DraftEdge => ({ from: start.id, to: id })),
      ...edges,
      ...last.map(({ id }) => onwards(id, end, decisions)),
      ...(steps.length === 0 && !left.has(start.id) ? [{ from: start.id, to: end }] : []),
    ],
  };
}

/** Whatever the node comes to. */
function onwards(from: string, to: string, decisions: ReadonlySet<string>): DraftEdge {
  return { from, to, ...(decisions.has(from) && { condition: defaultLabel }) };
}

function isDecision({ type }: DraftNode): boolean {
  return type === "decision" || type === "DecisionNode";
}

/** Each step as the simplest node with as many ways out. */
function parsed({ start, ends, edges }: Frame, draft: Draft): { graph?: Workflow; findings: Finding[] } {
  const leaving = Map.groupBy(edges, ({ from }) => from);
  const nodes = stepsOf(draft).map(({ id, onError, merge }) => {
    const out = leaving.get(id) ?? [];
    const chooses = out.some(({ condition }) => condition !== undefined);
    return {
      id,
      type: chooses ? "decision" : "action",
      code: "pass",
      ...(onError !== undefined && { onError }),
      ...(merge !== undefined && out.length > 1 && { merge }),
    };
  });
  const bare = [start, ...ends].map(({ id, type, merge }) => ({ id, type, ...(merge !== undefined && { merge }) }));
  const text = JSON.stringify({ id: "draft", name: "draft", nodes: [...bare, ...nodes], edges });
  const { workflow, findings } = parseWorkflow({ text, fileName: "workflow.json", files: {} });
  return { ...(workflow && { graph: workflow }), findings };
}

function waysBefore(draft: Draft, edges: readonly DraftEdge[]): Map<string, Way[]> {
  const steps = new Set(stepsOf(draft).map(({ id }) => id));
  const before = new Map<string, Way[]>([...steps].map((id) => [id, []]));
  const choices = edges.filter(({ condition }) => condition !== undefined);
  const labels = Map.groupBy(choices, ({ from }) => from);
  for (const { from, to, condition } of edges) {
    if (!steps.has(from)) continue;
    const others = (labels.get(from) ?? []).map((edge) => conditionLabel(edge.condition));
    const on: Way["on"] =
      condition === undefined ? { kind: "always" } : { kind: "choice", label: conditionLabel(condition), others };
    before.get(to)?.push({ from, on });
  }
  for (const { id, onError } of draft.nodes)
    if (typeof onError === "string") before.get(onError)?.push({ from: id, on: { kind: "failure" } });
  return before;
}

/** Whether what a node came to leads along one of its ways. */
export function leadsAlong({ on }: Pick<Way, "on">, { decision, failed }: NodeOutcome): boolean {
  if (on.kind === "failure") return failed === true;
  if (failed) return false;
  if (on.kind === "always" || decision === undefined) return true;
  return on.label === decision || (on.label === defaultLabel && !on.others.includes(decision));
}
