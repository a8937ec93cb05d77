import { conditionLabel, defaultLabel, type Finding, graphOf, parseWorkflow, type Workflow } from "@nova/workflow";
import { LRUCache } from "lru-cache";
import type { Draft, DraftEdge, DraftNode, NodeOutcome } from "../ports/sessions.ts";
import { cycleThrough, isStart, isStep, listIdsBeside, nextOf, sha256Of, stepsOf } from "./draft.ts";
import { shortList } from "./scope.ts";

/** The graph that runs for a draft: as the user drew it, or else the nodes one after the other. */
export interface DraftGraph {
  kind: "graph" | "line";
  /** Why the nodes run one after the other; null if the graph runs as the user drew it. */
  why: string | null;
  order: string[];
  /** The edges that lead to each node except start and end. The context of the node is built along these edges. */
  before: ReadonlyMap<string, readonly IncomingEdge[]>;
  start: DraftNode;
  ends: DraftNode[];
  edges: DraftEdge[];
  /** The edges of the same graph if each loop runs one round. */
  onward: DraftEdge[];
  /** For each node in a loop, the nodes of its loop. */
  loops: ReadonlyMap<string, readonly string[]>;
  /**
   * The nodes of loops, and all nodes after loops. Their contexts depend on all rounds, so a run reuses all of
   * their outcomes or none.
   */
  afterLoops: ReadonlySet<string>;
  /** The structure as a workflow, without code and prompts; absent if it cannot run, and `findings` says why. */
  graph?: Workflow;
  findings: Finding[];
}

export interface IncomingEdge {
  from: string;
  on: { kind: "always" } | { kind: "choice"; label: string; others: readonly string[] } | { kind: "failure" };
}

/** Caches graphs by the hash of their structure, because most requests do not change the structure. */
const cachedGraphs = new LRUCache<string, DraftGraph>({ max: 50 });

/** Builds the graph from the structure alone, so faults inside nodes do not matter. */
export function buildDraftGraph(draft: Draft): DraftGraph {
  const beside = new Set(draft.nodes.flatMap(listIdsBeside));
  const structure = {
    nodes: draft.nodes
      .filter(({ id }) => !beside.has(id))
      .map(({ id, type, onError, merge }) => ({ id, type, onError, merge })),
    edges: draft.edges,
  };
  const key = sha256Of(structure);
  const known = cachedGraphs.get(key) ?? analyseDraft({ ...draft, nodes: structure.nodes as DraftNode[] });
  cachedGraphs.set(key, known);
  return known;
}

/** Codes of findings for branches that do not nest, which no state machine can express. */
const doesNotNest = new Set(["NOVA220", "NOVA221", "NOVA222", "NOVA223"]);

function analyseDraft(draft: Draft): DraftGraph {
  const asGraph = addStartAndEnds(draft, draft.edges, findEdgesBack(draft));
  const { start, ends, onward } = asGraph;
  const order = sortSteps({ ...draft, edges: onward });
  const graph = parseGraph(asGraph, draft);
  const errors = graph.findings.filter(({ severity }) => severity === "error");
  const base = { order, start, ends, ...findLoops(draft) };
  const isPlain = draft.edges.every(({ condition }) => condition === undefined);
  const canBeLine = isPlain && draft.nodes.every(({ onError }) => onError === undefined);
  if (errors.length === 0 || !canBeLine || !errors.every(({ code }) => doesNotNest.has(code))) {
    const before = findIncomingEdges(draft, onward);
    return { ...base, kind: "graph", why: null, before, edges: asGraph.edges, onward, ...graph };
  }
  const decisions = new Set(draft.nodes.filter(isDecision).map(({ id }) => id));
  const line = order.slice(1).map((to, index) => edgeTo(order[index] as string, to, decisions));
  const asLine = addStartAndEnds(draft, line);
  const why = `its branches do not nest (${errors[0]?.message}), so its nodes run one after the other: ${shortList(order)}`;
  return {
    ...base,
    kind: "line",
    why,
    before: findIncomingEdges(draft, line),
    edges: asLine.edges,
    onward: asLine.onward,
    ...parseGraph(asLine, draft),
  };
}

/**
 * Sorts the nodes, without start and end, so that each follows its predecessors. If no edges order two nodes, they keep
 * their order in the draft.
 */
function sortSteps(draft: Draft): string[] {
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

type FramedGraph = Pick<DraftGraph, "start" | "ends" | "edges" | "onward">;

/** Adds a start node before nodes without predecessors, and an end node after nodes without successors. */
function addStartAndEnds({ nodes }: Draft, edges: readonly DraftEdge[], back: ReadonlySet<DraftEdge> = new Set()) {
  const free = (id: string): string => (nodes.some((node) => node.id === id) ? free(`${id}_`) : id);
  const start = nodes.find(isStart) ?? { id: free("start"), type: "start" };
  const drawn = nodes.filter((node) => !isStep(node) && !isStart(node));
  const steps = stepsOf({ nodes });
  const failures = new Set(steps.map(({ onError }) => onError));
  const entered = new Set(edges.filter((edge) => !back.has(edge)).map(({ to }) => to));
  const leaving = Map.groupBy(edges, ({ from }) => from);
  const unreached = steps.filter(({ id }) => !entered.has(id) && !failures.has(id));
  const ends = drawn.length > 0 ? drawn : [{ id: free("end"), type: "end" }];
  const end = (ends[0] as DraftNode).id;
  const choosing = new Set(steps.filter(isChoosing).map(({ id }) => id));
  const last = steps.filter(({ id }) => {
    const out = leaving.get(id) ?? [];
    const canRepeatOnly = choosing.has(id) && out.every(({ max, condition }) => max && condition !== defaultLabel);
    return out.length === 0 || canRepeatOnly;
  });
  const framed = [
    ...unreached.map(({ id }): DraftEdge => ({ from: start.id, to: id })),
    ...edges,
    ...last.map(({ id }) => edgeTo(id, end, choosing)),
    ...(steps.length === 0 && !leaving.has(start.id) ? [{ from: start.id, to: end }] : []),
  ];
  return { start, ends, edges: framed, onward: unrollLoops({ nodes, edges: framed }, back, end) };
}

/**
 * Builds an edge that a run takes after every outcome of `from`. `choosing` has the ids of nodes whose edges need a
 * condition.
 */
function edgeTo(from: string, to: string, choosing: ReadonlySet<string>): DraftEdge {
  return { from, to, ...(choosing.has(from) && { condition: defaultLabel }) };
}

/** Builds an edge from a node that the run takes after every outcome of the node. */
export function edgeAfter(node: DraftNode, to: string): DraftEdge {
  return edgeTo(node.id, to, new Set(isChoosing(node) ? [node.id] : []));
}

function isChoosing(node: DraftNode): boolean {
  return isDecision(node) || node.type === "approval";
}

export function isDecision({ type }: DraftNode): boolean {
  return type === "decision" || type === "DecisionNode";
}

/** Parses the structure: each node of the draft is replaced by the simplest node with the same outgoing edges. */
function parseGraph({ start, ends, onward }: FramedGraph, draft: Draft): { graph?: Workflow; findings: Finding[] } {
  const leaving = Map.groupBy(onward, ({ from }) => from);
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
  const text = JSON.stringify({ id: "draft", name: "draft", nodes: [...bare, ...nodes], edges: onward });
  const { workflow, findings } = parseWorkflow({ text, fileName: "workflow.json", files: {} });
  return { ...(workflow && { graph: workflow }), findings };
}

function findIncomingEdges(draft: Draft, edges: readonly DraftEdge[]): Map<string, IncomingEdge[]> {
  const steps = new Set(stepsOf(draft).map(({ id }) => id));
  const before = new Map<string, IncomingEdge[]>([...steps].map((id) => [id, []]));
  const choices = edges.filter(({ condition }) => condition !== undefined);
  const labels = Map.groupBy(choices, ({ from }) => from);
  for (const { from, to, condition } of edges) {
    if (!steps.has(from)) continue;
    const others = (labels.get(from) ?? []).map((edge) => conditionLabel(edge.condition));
    const on: IncomingEdge["on"] =
      condition === undefined ? { kind: "always" } : { kind: "choice", label: conditionLabel(condition), others };
    before.get(to)?.push({ from, on });
  }
  for (const { id, onError } of draft.nodes)
    if (typeof onError === "string") before.get(onError)?.push({ from: id, on: { kind: "failure" } });
  return before;
}

/** Returns whether a run with this outcome of a node follows the given edge from that node. */
export function followsEdge({ on }: Pick<IncomingEdge, "on">, { decision, failed }: NodeOutcome): boolean {
  if (on.kind === "failure") return failed === true;
  if (failed) return false;
  if (on.kind === "always" || decision === undefined) return true;
  return on.label === decision || (on.label === defaultLabel && !on.others.includes(decision));
}

/**
 * Finds the edges that lead back to a node on the path from the start to the edge. It leaves out the edges of a cycle
 * in which no edge has `max`. So such a cycle stays in the graph, and a finding reports it.
 */
function findEdgesBack(draft: Draft): Set<DraftEdge> {
  const leaving = Map.groupBy(draft.edges, ({ from }) => from);
  const onErrorOf = new Map(draft.nodes.map(({ id, onError }) => [id, onError]));
  const back = new Set<DraftEdge>();
  const [path, seen] = [new Set<string>(), new Set<string>()];
  const visit = (id: string) => {
    if (seen.has(id)) return;
    seen.add(id);
    path.add(id);
    for (const edge of leaving.get(id) ?? []) {
      if (!path.has(edge.to)) visit(edge.to);
      else if (!cycleThrough(draft, edge)) back.add(edge);
    }
    const onError = onErrorOf.get(id);
    if (typeof onError === "string") visit(onError);
    path.delete(id);
  };
  const ids = draft.nodes.map(({ id }) => id);
  const entered = new Set([...nextOf(draft).values()].flat());
  const targets = new Set(draft.edges.map(({ to }) => to));
  const starts = draft.nodes.filter(isStart).map(({ id }) => id);
  const first = ids.filter((id) => !entered.has(id));
  for (const id of [...starts, ...first.filter((one) => !targets.has(one)), ...first, ...ids]) visit(id);
  return back;
}

/** Finds the nodes in loops, and all nodes that a run can reach from loops. */
function findLoops({ nodes, edges }: Draft): Pick<DraftGraph, "loops" | "afterLoops"> {
  if (edges.every(({ max }) => max === undefined)) return { loops: new Map(), afterLoops: new Set() };
  const steps = stepsOf({ nodes }).map(({ id }) => id);
  const next = nextOf({ nodes, edges: edges.map(({ max: _, ...edge }) => edge) });
  const reached = new Map(steps.map((id) => [id, reach(next, next.get(id) ?? [])]));
  const loops = new Map(
    steps.flatMap((id) => {
      const isInLoop = (other: string) => reached.get(id)?.has(other) && reached.get(other)?.has(id);
      return isInLoop(id) ? [[id, steps.filter(isInLoop)] as const] : [];
    }),
  );
  return { loops, afterLoops: reach(next, loops.keys()) };
}

function reach(next: ReadonlyMap<string, readonly string[]>, first: Iterable<string>): Set<string> {
  const reached = new Set(first);
  for (const id of reached) for (const to of next.get(id) ?? []) reached.add(to);
  return reached;
}

/** Returns the edges of a draft in which each loop runs once: each edge in `back` leads to the node after its loop. */
function unrollLoops({ nodes, edges }: Pick<Draft, "nodes" | "edges">, back: ReadonlySet<DraftEdge>, end: string) {
  if (back.size === 0) return [...edges];
  const { predecessors } = graphOf(nodes as { id: string; onError?: string }[], edges);
  const exitOf = (first: string) => {
    const last = [...back].filter(({ to }) => to === first).map(({ from }) => from);
    const inside = new Set([first, ...last]);
    for (const id of inside) if (id !== first) for (const before of predecessors.get(id) ?? []) inside.add(before);
    return edges.find((edge) => inside.has(edge.from) && !inside.has(edge.to) && !back.has(edge))?.to ?? end;
  };
  const exits = new Map(Array.from(back, ({ to }) => [to, exitOf(to)]));
  const once = edges.map((edge): DraftEdge => {
    const { max: _, ...rest } = edge;
    return back.has(edge) ? { ...rest, to: exits.get(edge.to) as string } : rest;
  });
  return [...new Map(once.map((edge) => [JSON.stringify(edge), edge])).values()];
}
