import { createHash } from "node:crypto";
import type { Member } from "@nova/engine";
import { conditionLabel } from "@nova/workflow";
import { Conflict, NotFound, Refused } from "../errors.ts";
import type { Draft, DraftEdge, DraftNode, SessionState } from "../ports/sessions.ts";
import { changeAround, changeInside, draftAround, listNodes, nodeOf } from "./scope.ts";

/**
 * Limits for the number of nodes and the bytes of a draft. They keep the draft readable, and keep its run within the
 * history limit of Step Functions.
 */
const maxNodes = 500;
const maxBytes = 2 * 1024 * 1024;

export const emptyDraft: Draft = { settings: {}, files: {}, nodes: [], edges: [] };

/** Returns whether a node is a step of the draft: a node that has an outcome, which starts and ends do not have. */
export function isStep({ type }: Pick<DraftNode, "type">): boolean {
  return !["start", "StartNode", "end", "EndNode"].includes(type);
}

export function isStart({ type }: Pick<DraftNode, "type">): boolean {
  return type === "start" || type === "StartNode";
}

/**
 * Returns whether a node is an input: a model node without a prompt. Callers write its output. An input never runs, and
 * sets nothing without an output.
 */
export function isInput({ type, executor, prompt, promptFile }: DraftNode): boolean {
  const isAsked = type !== "decision" && ["text", "prompt", "cached"].includes(String(executor));
  return isAsked && prompt === undefined && promptFile === undefined;
}

/**
 * Returns the steps to which an edge may lead. It leaves out tools and fallbacks: only the agent starts its tools, and
 * only the node with a fallback starts the fallback.
 */
export function stepsOf({ nodes }: Pick<Draft, "nodes">): DraftNode[] {
  const beside = new Set(nodes.flatMap(listIdsBeside));
  return nodes.filter((node) => isStep(node) && !beside.has(node.id));
}

/**
 * Returns the ids of the nodes that belong to a node and to which no edge may lead: the tools of an agent, and the
 * fallback of code.
 */
export function listIdsBeside({ executor, tools, fallback }: DraftNode): string[] {
  const beside: unknown[] = executor === "agent" && Array.isArray(tools) ? tools : [fallback];
  return beside.filter((id) => typeof id === "string");
}

/**
 * Lists the tools and fallbacks of the nodes in `some`, and also the tools and fallbacks of these. For code whose
 * fallback is an agent, these are the agent and the agent's tools.
 */
export function listNodesBeside({ nodes }: Pick<Draft, "nodes">, some: readonly DraftNode[]): DraftNode[] {
  const ids = new Set(some.flatMap(listIdsBeside));
  for (const id of ids)
    for (const node of nodes) if (node.id === id) for (const one of listIdsBeside(node)) ids.add(one);
  return nodes.filter(({ id }) => ids.has(id));
}

/**
 * Throws `Refused` if a key begins with `$`. Such keys, for example `$blob`, mark NOVA's references. The message begins
 * with `has`, such as `the output has`.
 */
export function demandNoMark(members: readonly Pick<Member, "key">[], has: string): void {
  const mark = members.find(({ key }) => key.startsWith("$"));
  if (mark) throw new Refused(`${has} the key "${mark.key}" - such keys mark NOVA's references: use another name`);
}

/** Adds a node to a draft, or to the body of a map. Throws `Conflict`, `NotFound`, `Refused`. */
export function withNode(draft: Draft, node: DraftNode, map?: string): Draft {
  if (draft.nodes.length >= maxNodes)
    throw new Refused(`a session has at most ${maxNodes} nodes - publish it, and call it as a workflow node`);
  return sized(demandUniqueIds(changeInside(draft, map, (one) => ({ ...one, nodes: [...one.nodes, node] }))));
}

/** Returns the same draft. Throws `Conflict` if two nodes have the same id, inside or outside maps. */
function demandUniqueIds(draft: Draft): Draft {
  const known = new Set<string>();
  for (const { id } of listNodes(draft.nodes)) {
    if (known.has(id)) throw new Conflict(`the session has a node "${id}" already - PATCH it, or use another id`);
    known.add(id);
  }
  return draft;
}

/**
 * Changes fields of a node; null removes a field. Returns the new draft and the names of the changed fields. Throws
 * `Conflict`, `NotFound`, `Refused`.
 */
export function withChangedNode(
  draft: Draft,
  id: string,
  changes: Readonly<Record<string, unknown>>,
): { draft: Draft; fields: string[] } {
  const before = nodeOf(draft, id);
  const merged = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null);
  const after = Object.fromEntries(merged) as DraftNode;
  const fields = Object.keys({ ...before, ...after }).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const replace = (one: Draft) => ({ ...one, nodes: one.nodes.map((node) => (node === before ? after : node)) });
  return { draft: sized(demandUniqueIds(changeAround(draft, id, replace))), fields };
}

/**
 * Removes a node with its edges. If no other node uses its tools or its fallback, it removes these, too, because they
 * would run as steps without the node. Returns the draft and the ids of the removed nodes. Throws `NotFound`, and
 * `Conflict` if an `onError` leads to the node.
 */
export function withoutNode(whole: Draft, id: string): { draft: Draft; removed: Set<string> } {
  const removed = new Set([nodeOf(whole, id).id]);
  const draft = draftAround(whole, id);
  for (const owner of removed) {
    const beside = draft.nodes.filter((one) => one.id === owner).flatMap(listIdsBeside);
    const stillBeside = new Set(draft.nodes.filter((one) => !removed.has(one.id)).flatMap(listIdsBeside));
    for (const one of beside) if (!stillBeside.has(one)) removed.add(one);
  }
  const edges = draft.edges.filter(({ from, to }) => !removed.has(from) && !removed.has(to));
  const nodes = draft.nodes.filter((one) => !removed.has(one.id));
  const pointing = nodes.find(({ onError }) => onError === id);
  if (pointing)
    throw new Conflict(`node "${pointing.id}" has "onError": "${id}" - lead it elsewhere, and delete the node then`);
  return { draft: changeAround(whole, id, (one) => ({ ...one, nodes, edges })), removed };
}

/**
 * Returns a sentence that names the deleted nodes: first a node, then its tools and fallbacks that were deleted with
 * it.
 */
export function describeRemoval([id = "", ...beside]: Iterable<string>): string {
  return `node "${id}" was deleted${beside.length > 0 ? `, with ${beside.map((one) => `"${one}"`).join(", ")}` : ""}`;
}

/**
 * Adds an edge to a draft. Throws `NotFound` if a node of the edge does not exist, and `Conflict` if the draft has this
 * edge already. Throws `Refused` if the edge would close a cycle in which no edge has `max`.
 */
export function withEdge(whole: Draft, edge: DraftEdge): Draft {
  return sized(changeAround(whole, edge.from, (draft) => addEdge(draft, edge)));
}

function addEdge(draft: Draft, edge: DraftEdge): Draft {
  for (const id of [edge.from, edge.to]) nodeOf(draft, id);
  const outside = [edge.from, edge.to].find((id) => !draft.nodes.some((node) => node.id === id));
  if (outside !== undefined) throw new Refused(`${edgeName(edge)} leads into a map - connect nodes of the same map`);
  if (draft.edges.some((other) => isSame(other, edge)))
    throw new Conflict(`${edgeName(edge)} is there already - GET the session shows all edges`);
  const changed = { ...draft, edges: [...draft.edges, edge] };
  const cycle = cycleThrough(changed, edge);
  if (cycle)
    throw new Refused(
      `${edgeName(edge)} would close a cycle: ${cycle.join(" -> ")} - give an edge of the loop "max", or lead it elsewhere`,
    );
  return changed;
}

/**
 * Removes an edge. If `edge` has no condition, it removes all edges from the one node to the other. Throws `NotFound`.
 */
export function withoutEdge(whole: Draft, edge: DraftEdge): Draft {
  return changeAround(whole, edge.from, (draft) => removeEdge(draft, edge));
}

function removeEdge(draft: Draft, edge: DraftEdge): Draft {
  const isMeant = (other: DraftEdge) =>
    edge.condition === undefined ? other.from === edge.from && other.to === edge.to : isSame(other, edge);
  const edges = draft.edges.filter((other) => !isMeant(other));
  if (edges.length < draft.edges.length) return { ...draft, edges };
  throw new NotFound(`there is no ${edgeName(edge).replace("the ", "")} - GET the session shows all edges`);
}

export function edgeName({ from, to, condition }: DraftEdge): string {
  const label = condition === undefined ? "" : ` for ${JSON.stringify(condition)}`;
  return `the edge from "${from}" to "${to}"${label}`;
}

function isSame(a: DraftEdge, b: DraftEdge): boolean {
  if (a.from !== b.from || a.to !== b.to) return false;
  if (a.condition === undefined || b.condition === undefined) return a.condition === b.condition;
  return conditionLabel(a.condition) === conditionLabel(b.condition);
}

/** Returns the draft itself. Throws `Refused` if the draft is too large. */
export function sized(draft: Draft): Draft {
  const bytes = Buffer.byteLength(JSON.stringify(draft));
  if (bytes <= maxBytes) return draft;
  throw new Refused(`a session holds at most ${maxBytes} bytes of nodes, not ${bytes} - put data into the context`);
}

/**
 * Returns the cycle that an edge closes, if no edge of that cycle has `max`; undefined otherwise. The result repeats
 * the first node at the end.
 */
export function cycleThrough({ nodes, edges }: Draft, { from, to, max }: DraftEdge): string[] | undefined {
  if (max !== undefined) return undefined;
  const next = nextOf({ nodes, edges });
  const cameFrom = new Map<string, string>([[to, ""]]);
  for (const [id] of cameFrom) {
    if (id === from) return [...pathBack(cameFrom, from).reverse(), to];
    for (const one of next.get(id) ?? []) if (!cameFrom.has(one)) cameFrom.set(one, id);
  }
  return undefined;
}

function pathBack(cameFrom: ReadonlyMap<string, string>, end: string): string[] {
  const path = [];
  for (let id = end; id !== ""; id = cameFrom.get(id) ?? "") path.push(id);
  return path;
}

/** Returns the successors of each node, including its `onError`, without the edges that have `max`. */
export function nextOf({ nodes, edges }: Pick<Draft, "nodes" | "edges">): Map<string, string[]> {
  const next = new Map<string, string[]>(nodes.map(({ id }) => [id, []]));
  for (const { from, to, max } of edges) if (max === undefined) next.get(from)?.push(to);
  for (const { id, onError } of nodes) if (typeof onError === "string") next.get(id)?.push(onError);
  return next;
}

export function sha256Of(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return createHash("sha256").update(text).digest("hex");
}

/**
 * Returns a hash for each node, by its id. The hash covers everything that decides the node's outcome except the
 * outcomes of earlier nodes.
 */
export function definitionHashes({ draft, context }: Pick<SessionState, "draft" | "context">): Map<string, string> {
  const { settings, files, nodes, edges } = draft;
  const { triggers: _, on_failure: __, ...decisive } = settings;
  const around = sha256Of([decisive, files, context]);
  const leaving = Map.groupBy(edges, ({ from }) => from);
  const hashOf = ({ description: _, ...node }: DraftNode) => {
    const out = leaving.get(node.id) ?? [];
    // The hash covers the labels of the edges, since they are the possible outcomes of a decision. It covers the order
    // of branches only if a join merges their values in this order.
    const labels = out.flatMap(({ condition }) => (condition === undefined ? [] : [conditionLabel(condition)]));
    const branches = node.merge === undefined ? [] : out.map(({ to }) => to);
    const beside = listNodesBeside({ nodes }, [node as DraftNode]).map((one) => Object.entries(one).sort());
    return sha256Of([around, Object.entries(node).sort(), labels.sort(), branches, beside]);
  };
  return new Map(nodes.map((node) => [node.id, hashOf(node)]));
}
