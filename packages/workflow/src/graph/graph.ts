import type { Body, Condition, Edge, Node, StartNode, Workflow } from "../workflow.ts";

export interface Graph {
  ids: string[];
  /** Maps every id to the ids of the next nodes, including `onError`. A node without any has an empty list. */
  successors: ReadonlyMap<string, string[]>;
  predecessors: ReadonlyMap<string, string[]>;
}

/** Builds a graph. Edges that name an unknown node are left out. */
export function graphOf(
  nodes: readonly { id: string; onError?: string | undefined }[],
  edges: readonly { from: string; to: string }[],
): Graph {
  const ids = [...new Set(nodes.map((node) => node.id))];
  const successors = new Map(ids.map((id) => [id, [] as string[]]));
  const predecessors = new Map(ids.map((id) => [id, [] as string[]]));
  const failures = nodes.flatMap(({ id, onError }) => (onError === undefined ? [] : [{ from: id, to: onError }]));
  for (const { from, to } of [...edges, ...failures]) {
    const out = successors.get(from);
    const into = predecessors.get(to);
    if (!out || !into) continue;
    out.push(to);
    into.push(from);
  }
  return { ids, successors, predecessors };
}

export function reachableFrom(graph: Graph, starts: readonly string[]): Set<string> {
  return spread(graph.successors, starts);
}

export function canReach(graph: Graph, ends: readonly string[]): Set<string> {
  return spread(graph.predecessors, ends);
}

function spread(arrows: Graph["successors"], from: readonly string[]): Set<string> {
  const seen = new Set(from);
  for (const id of seen) for (const next of arrows.get(id) ?? []) seen.add(next);
  return seen;
}

/**
 * Returns all reachable nodes, each after its successors (in a cycle, after some of them). Works without recursion, for
 * graphs of any depth.
 */
export function lastToFirst(starts: readonly string[], nextOf: (id: string) => readonly string[]): string[] {
  const done = new Set<string>();
  const seen = new Set<string>();
  const waiting = [...starts];
  while (waiting.length > 0) {
    const id = waiting.at(-1) as string;
    const isNew = !seen.has(id);
    seen.add(id);
    const next = isNew ? nextOf(id).filter((one) => !seen.has(one)) : [];
    waiting.push(...next);
    if (next.length > 0) continue;
    waiting.pop();
    done.add(id);
  }
  return [...done];
}

/**
 * Splits unconnected nodes into groups. In each group, paths lead from one node, the head, to all other nodes. So a
 * finding names the head as the node to connect.
 */
export function groupsOf(graph: Graph, members: ReadonlySet<string>): { head: string; others: string[] }[] {
  const inOrder = graph.ids.filter((id) => members.has(id));
  const isHead = (id: string) => !graph.predecessors.get(id)?.some((before) => before !== id && members.has(before));
  const taken = new Set<string>();
  const group = (head: string) => {
    const before = taken.size;
    const own = new Set([head]);
    for (const id of own) {
      taken.add(id);
      for (const next of graph.successors.get(id) ?? []) if (members.has(next) && !taken.has(next)) own.add(next);
    }
    return taken.size === before ? [] : [{ head, others: [...own].slice(1) }];
  };
  const heads = inOrder.filter(isHead).flatMap(group);
  return [...heads, ...inOrder.flatMap((id) => (taken.has(id) ? [] : group(id)))];
}

/**
 * Finds at least one cycle in every group of nodes that reach each other, but not all cycles, which may be
 * exponentially many. Works without recursion.
 */
export function findCycles(graph: Graph): string[][] {
  const cycles: string[][] = [];
  const reported = new Set<string>();
  const finished = new Set<string>();
  for (const root of graph.ids) {
    if (finished.has(root)) continue;
    const path = [root];
    const depth = new Map([[root, 0]]);
    const waiting = [[...(graph.successors.get(root) ?? [])].reverse()];
    while (path.length > 0) {
      const here = path.at(-1) as string;
      const next = waiting.at(-1)?.pop();
      if (next === undefined) {
        finished.add(here);
        depth.delete(here);
        path.pop();
        waiting.pop();
        continue;
      }
      const at = depth.get(next);
      if (at !== undefined && !reported.has(here) && !reported.has(next)) {
        const cycle = path.slice(at);
        for (const id of cycle) reported.add(id);
        cycles.push(cycle);
      }
      if (at !== undefined || finished.has(next)) continue;
      depth.set(next, path.length);
      path.push(next);
      waiting.push([...(graph.successors.get(next) ?? [])].reverse());
    }
  }
  return cycles;
}

export const defaultLabel = "default";

export const timeoutLabel = "timeout";

/**
 * Returns the label of a decision's edge. The conditions `true` and `"true"` have the same label, and so have 1 and
 * `"1"`.
 */
export function conditionLabel(condition: Condition | undefined): string {
  if (condition === undefined) return defaultLabel;
  return typeof condition === "string" ? condition : JSON.stringify(condition);
}

export interface IndexedNode {
  node: Node;
  edges: Edge[];
  body: string | null;
  /** True for an `end` in a map's body: it runs no code and only ends the item. */
  isDone: boolean;
}

/** Returns a function that computes the answer for each workflow only once. */
export function oncePerWorkflow<Answer>(find: (workflow: Workflow) => Answer): (workflow: Workflow) => Answer {
  const answers = new WeakMap<Workflow, Answer>();
  return (workflow) => {
    const answer = answers.get(workflow) ?? find(workflow);
    answers.set(workflow, answer);
    return answer;
  };
}

/** Returns every node of a checked workflow by its id, including nodes in the bodies of maps. */
export const nodeIndex = oncePerWorkflow(
  (workflow): ReadonlyMap<string, IndexedNode> =>
    new Map(Array.from(nodesIn(workflow, null), (one) => [one.node.id, one])),
);

function* nodesIn({ nodes, edges }: Body, body: string | null): Iterable<IndexedNode> {
  const leaving = Map.groupBy(edges, ({ from }) => from);
  for (const node of nodes) {
    yield { node, edges: leaving.get(node.id) ?? [], body, isDone: body !== null && node.type === "end" };
    if ("body" in node) yield* nodesIn(node.body, node.id);
  }
}

export function startOf({ nodes }: Pick<Body, "nodes">): StartNode | undefined {
  return nodes.find((node) => node.type === "start");
}

export function onErrorOf(node: Node): string | undefined {
  return "onError" in node ? node.onError : undefined;
}

/**
 * Returns the edges without a `max`. Only they decide where branches fork and join. Edges with a `max` lead back to an
 * earlier node, directly or through nodes of their own.
 */
export function onwardEdges(edges: readonly Edge[]): Edge[] {
  return edges.filter(({ max }) => max === undefined);
}

export function loopsIn(edges: readonly Edge[]): Edge[] {
  return edges.filter(({ max }) => max !== undefined);
}

/** Returns the nodes of the same body from which a path without loop edges leads to this node. */
export function nodesBefore(workflow: Workflow, id: string): ReadonlySet<string> {
  const before = canReach(graphAround(workflow, id, onwardEdges), [id]);
  before.delete(id);
  return before;
}

const loopMembers = oncePerWorkflow(() => new Map<string, boolean>());

/**
 * Returns true if a run may visit the node more than once: edges lead from the node back to itself, or the node is an
 * agent.
 */
export function isInLoop(workflow: Workflow, id: string): boolean {
  const known = loopMembers(workflow);
  const isMember = known.get(id) ?? leadsBackTo(workflow, id);
  known.set(id, isMember);
  return isMember;
}

function leadsBackTo(workflow: Workflow, id: string): boolean {
  if (nodeIndex(workflow).get(id)?.node.type === "agent") return true;
  const graph = graphAround(workflow, id, (edges) => edges);
  const before = canReach(graph, [id]);
  return graph.successors.get(id)?.some((next) => before.has(next)) ?? false;
}

function graphAround(workflow: Workflow, id: string, chosen: (edges: Edge[]) => Edge[]): Graph {
  const index = nodeIndex(workflow);
  const home = index.get(id)?.body ?? null;
  const inBody = [...index.values()].filter(({ body }) => body === home);
  const points = inBody.map(({ node }) => ({ id: node.id, onError: onErrorOf(node) }));
  return graphOf(points, chosen(inBody.flatMap(({ edges }) => edges)));
}
