import type { Session } from "@nova/client";
import { asRaw, findMember, formatJson, listElements, Raw, readMembers, readString } from "../../json/raw.ts";

export type DraftEdge = Session["edges"][number];
export type Positions = Readonly<Record<string, { x: number; y: number }>>;

/** A node with its definition as JSON text, which keeps all digits. */
export interface DocNode {
  id: string;
  text: string;
}

/** The drawing of a draft. Edges keep their order, which is the order of branches. */
export interface Doc {
  nodes: readonly DocNode[];
  edges: readonly DraftEdge[];
  layout: Positions;
}

export function readDoc({ nodes, beside, edges, layout }: Pick<Session, "nodes" | "beside" | "edges" | "layout">): Doc {
  const all = [...nodes, ...beside];
  return { nodes: all.map(({ node_id: id, definition }) => ({ id, text: asRaw(definition).text })), edges, layout };
}

/** The parts of the document that a request replaces. */
export function renderParts({ nodes, edges, layout }: Doc) {
  const ids = new Set(nodes.map(({ id }) => id));
  const known = Object.entries(layout).filter(([id]) => ids.has(id));
  return { nodes: nodes.map(({ text }) => new Raw(text)), edges: [...edges], layout: Object.fromEntries(known) };
}

function edgeKey({ from, to, condition }: DraftEdge): string {
  return JSON.stringify([from, to, condition === undefined ? null : String(condition)]);
}

function isSameEdge(a: DraftEdge, b: DraftEdge): boolean {
  return edgeKey(a) === edgeKey(b);
}

/** The place of a new node: on an edge, after a node, or nowhere. */
export type NewPlace = { edge: DraftEdge } | { after: string } | undefined;

/** The conditions of the edges that a new node needs, by its type. */
const conditionsOf: Record<string, readonly string[]> = {
  decision: ["default"],
  DecisionNode: ["default"],
  approval: ["approved", "rejected"],
};

/** Adds a node. On an edge, it takes the place of the edge among the branches. */
export function addNodeAt(doc: Doc, node: DocNode, place: NewPlace): Doc {
  const nodes = [...doc.nodes, node];
  if (!place) return { ...doc, nodes };
  const leaving = (to: string) => {
    const type = readString(findMember(node.text, "type")) ?? "action";
    const conditions = conditionsOf[type] ?? [undefined];
    return conditions.map((condition) => ({ from: node.id, to, ...(condition !== undefined && { condition }) }));
  };
  if ("edge" in place) {
    const { edge } = place;
    const edges = doc.edges.flatMap((one) =>
      isSameEdge(one, edge) ? [{ ...one, to: node.id }, ...leaving(one.to)] : [one],
    );
    return { ...doc, nodes, edges };
  }
  const { after } = place;
  const [only, ...others] = doc.edges.filter(({ from }) => from === after);
  // The last step of a line stays before the end.
  const isLast = only && others.length === 0 && !doc.nodes.some(({ id }) => id === only.to);
  if (isLast) return addNodeAt(doc, node, { edge: only });
  return { ...doc, nodes, edges: [...doc.edges, { from: after, to: node.id, ...nextCondition(doc, after) }] };
}

/** The condition of a further edge from a node that chooses. */
export function nextCondition(
  { nodes, edges }: Pick<Doc, "nodes" | "edges">,
  from: string,
): { condition?: string | boolean } {
  const type = readString(findMember(nodes.find(({ id }) => id === from)?.text ?? "{}", "type")) ?? "action";
  if (!(type in conditionsOf)) return {};
  const taken = new Set(edges.flatMap((one) => (one.from === from ? [String(one.condition)] : [])));
  if (type === "approval") {
    const free = ["approved", "rejected", "timeout"].find((choice) => !taken.has(choice));
    return free === undefined ? {} : { condition: free };
  }
  const free = [true, false].find((choice) => !taken.has(String(choice)));
  return { condition: free ?? "default" };
}

export function connect(doc: Doc, from: string, to: string): Doc {
  return addEdge(doc, { from, to, ...nextCondition(doc, from) });
}

export function addEdge(doc: Doc, edge: DraftEdge): Doc {
  return doc.edges.some((one) => isSameEdge(one, edge)) ? doc : { ...doc, edges: [...doc.edges, edge] };
}

/** Adds a node as a tool of an agent. */
export function addTool(doc: Doc, agent: string, node: DocNode): Doc {
  const tools = (text: string) => [...readTools(text), JSON.stringify(node.id)];
  const nodes = doc.nodes.map((one) => (one.id === agent ? replaceTools(one, tools(one.text)) : one));
  return { ...doc, nodes: [...nodes, node] };
}

function readTools(definition: string): string[] {
  return listElements(findMember(definition, "tools") ?? "[]");
}

function replaceTools({ id, text }: DocNode, tools: readonly string[]): DocNode {
  const members = new Map([...readMembers(text), ["tools", `[${tools.join(",")}]`]]);
  return { id, text: `{${Array.from(members, ([key, json]) => `${JSON.stringify(key)}:${json}`).join(",")}}` };
}

/** Lists the nodes beside a node, as the server does: the tools of an agent, and the fallback of code. */
function listIdsBeside(definition: string): string[] {
  const named = [...readTools(definition), findMember(definition, "fallback")];
  return named.flatMap((json) => readString(json) ?? []);
}

/** Returns the ids of a node and of the nodes that only it has beside it. Without it, they would run as steps. */
function findOwned({ nodes }: Doc, id: string): Set<string> {
  const owned = new Set([id]);
  for (const owner of owned) {
    const beside = nodes.flatMap((node) => (node.id === owner ? listIdsBeside(node.text) : []));
    const others = new Set(nodes.flatMap((node) => (owned.has(node.id) ? [] : listIdsBeside(node.text))));
    for (const one of beside) if (!others.has(one)) owned.add(one);
  }
  return owned;
}

/**
 * Removes a node with the nodes that only it has beside it, also from the tools of agents. If one edge leads to it and
 * edges lead from it to one other node, its neighbours are connected.
 */
export function removeNode(doc: Doc, id: string): Doc {
  const owned = findOwned(doc, id);
  const nodes = doc.nodes.flatMap((node) => {
    if (owned.has(node.id)) return [];
    const tools = readTools(node.text);
    const left = tools.filter((tool) => tool !== JSON.stringify(id));
    return [left.length === tools.length ? node : replaceTools(node, left)];
  });
  const [before, ...moreBefore] = doc.edges.filter(({ to }) => to === id);
  const leaving = doc.edges.filter(({ from }) => from === id);
  const targets = new Set(leaving.map(({ to }) => to));
  const [next] = targets;
  const isBridge =
    before && moreBefore.length === 0 && targets.size === 1 && next !== undefined && next !== before.from;
  const edges = doc.edges.flatMap((edge) => {
    if (isBridge && edge === before) {
      // A bridge closes the same loop as the edges that it replaces.
      const max = before.max ?? leaving.find((one) => one.max !== undefined)?.max;
      const bridge = { ...edge, to: next, ...(max !== undefined && { max }) };
      return doc.edges.some((one) => isSameEdge(one, bridge)) ? [] : [bridge];
    }
    return owned.has(edge.from) || owned.has(edge.to) ? [] : [edge];
  });
  return { ...doc, nodes, edges };
}

export function removeEdge(doc: Doc, edge: DraftEdge): Doc {
  return { ...doc, edges: doc.edges.filter((one) => !isSameEdge(one, edge)) };
}

export function moveNode(doc: Doc, id: string, place: { x: number; y: number }): Doc {
  return { ...doc, layout: { ...doc.layout, [id]: { x: Math.round(place.x), y: Math.round(place.y) } } };
}

/**
 * Applies the change from `from` to `to` to a later document, so that an undo keeps the changes that others made
 * meanwhile.
 */
export function applyChange(doc: Doc, from: Doc, to: Doc): Doc {
  const [old, now] = [
    new Map(from.nodes.map((node) => [node.id, node.text])),
    new Map(to.nodes.map((node) => [node.id, node.text])),
  ];
  const kept = doc.nodes
    .filter(({ id }) => !old.has(id) || now.has(id))
    .map((node) => ({
      ...node,
      text: old.get(node.id) === now.get(node.id) ? node.text : (now.get(node.id) ?? node.text),
    }));
  const present = new Set(kept.map(({ id }) => id));
  const added = to.nodes.filter(({ id }) => !old.has(id) && !present.has(id));
  const nodes = [...kept, ...added];
  const isAsBefore =
    doc.edges.length === from.edges.length &&
    doc.edges.every((edge, at) => isSameEdge(edge, from.edges[at] as DraftEdge));
  const edges = isAsBefore ? to.edges : mergeEdges(doc.edges, from.edges, to.edges);
  const moved = Object.keys({ ...from.layout, ...to.layout }).filter(
    (id) => JSON.stringify(from.layout[id]) !== JSON.stringify(to.layout[id]),
  );
  const layout = Object.entries({ ...doc.layout, ...Object.fromEntries(moved.map((id) => [id, to.layout[id]])) });
  return { nodes, edges, layout: Object.fromEntries(layout.flatMap(([id, place]) => (place ? [[id, place]] : []))) };
}

function mergeEdges(edges: readonly DraftEdge[], from: readonly DraftEdge[], to: readonly DraftEdge[]): DraftEdge[] {
  const [old, now] = [new Set(from.map(edgeKey)), new Set(to.map(edgeKey))];
  const kept = edges.filter((edge) => !old.has(edgeKey(edge)) || now.has(edgeKey(edge)));
  const present = new Set(kept.map(edgeKey));
  return [...kept, ...to.filter((edge) => !old.has(edgeKey(edge)) && !present.has(edgeKey(edge)))];
}

/** Renders the workflow of a draft as a person writes it. */
export function renderWorkflow({ nodes, edges }: Pick<Doc, "nodes" | "edges">, name: string, settings: object): string {
  const members = [
    ["name", JSON.stringify(name)],
    ...Object.entries(settings).map(([key, value]) => [key, JSON.stringify(value)]),
    ["nodes", `[${nodes.map(({ text }) => text).join(",")}]`],
    ["edges", JSON.stringify(edges)],
  ];
  return formatJson(`{${members.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(",")}}`);
}

export interface ParsedWorkflow {
  name: string | undefined;
  settings: Record<string, unknown>;
  nodes: DocNode[];
  edges: DraftEdge[];
}

/** Parses a workflow that a user typed. Returns the reason if it is none. */
export function parseWorkflowText(text: string): ParsedWorkflow | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  if (parsed === null || typeof parsed !== "object" || Array.isArray(parsed)) return "{ … }";
  const { id: _, name, nodes, edges, ...settings } = parsed as Record<string, unknown>;
  if (!Array.isArray(nodes) || !Array.isArray(edges)) return "nodes, edges";
  const texts = listElements(findMember(text, "nodes") ?? "[]");
  return {
    name: typeof name === "string" ? name : undefined,
    settings,
    nodes: texts.map((one) => ({ id: readString(findMember(one, "id")) ?? "", text: one })),
    edges: edges as DraftEdge[],
  };
}
