import { kindOf, membersOf, prettyJson } from "../../json/raw.ts";
import type { Graph, GraphEdge, GraphNode } from "../../parts/graph/definition.ts";
import { type NodeText, type Parts, settingsIn } from "./definition-parts.ts";

export type Change = "added" | "removed" | "changed" | "same";

/** Two texts beside each other. Absent where there is nothing on either side, or nothing else on the other. */
export interface Sides {
  before: string;
  after: string;
}

export interface NodeDiff {
  change: Change;
  /** Python, or the prompt. */
  code: Sides | undefined;
  settings: Sides | undefined;
}

export interface WorkflowDiff {
  /** What either of the two has. */
  graph: Graph;
  nodes: ReadonlyMap<string, NodeDiff>;
  /** By `edgeName`. */
  edges: ReadonlyMap<string, Change>;
  /** Of the workflow as a whole. */
  settings: Sides | undefined;
}

/** Two definitions, node by node and edge by edge. */
export function diffOf(before: Parts, after: Parts): WorkflowDiff {
  const ids = new Set([...before.nodes.keys(), ...after.nodes.keys()]);
  const nodes = new Map(Array.from(ids, (id) => [id, nodeDiff(before.nodes.get(id), after.nodes.get(id))]));
  const edges = new Map<string, Change>();
  const graph = union(before.graph, after.graph, edges);
  const [was, is] = [settingsText(settingsIn(before.text)), settingsText(settingsIn(after.text))];
  return { graph, nodes, edges, settings: sides(was, is) };
}

export function edgeName({ from, to, isOnError }: GraphEdge): string {
  return `${from}>${to}${isOnError ? "!" : ""}`;
}

function nodeDiff(before: NodeText | undefined, after: NodeText | undefined): NodeDiff {
  const code = sides(codeOf(before), codeOf(after));
  const settings = sides(before && nodeSettings(before), after && nodeSettings(after));
  if (!before || !after) return { change: before ? "removed" : "added", code, settings };
  return { change: code || settings ? "changed" : "same", code, settings };
}

function codeOf(node: NodeText | undefined): string | undefined {
  return node && (node.code ?? node.prompt);
}

/** The type first: it is what may change most. */
function nodeSettings({ type, code, settings }: NodeText): string {
  const kind = code === undefined ? type : `${type}, code`;
  return settingsText(new Map([["type", JSON.stringify(kind)], ...settings]));
}

function settingsText(settings: ReadonlyMap<string, string>): string {
  const sorted = Array.from(settings).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, text]) => `${name}: ${prettyJson(inOrder(text))}`).join("\n");
}

/** The order of members says nothing. */
function inOrder(text: string): string {
  if (kindOf(text) !== "object") return text;
  const members = membersOf(text).sort((a, b) => (a.key < b.key ? -1 : 1));
  return `{${members.map(({ key, text: value }) => `${JSON.stringify(key)}:${inOrder(value)}`).join(",")}}`;
}

function sides(before: string | undefined, after: string | undefined): Sides | undefined {
  return before === after ? undefined : { before: before ?? "", after: after ?? "" };
}

function union(before: Graph, after: Graph, changes: Map<string, Change>): Graph {
  const old = new Map(before.nodes.map((node) => [node.id, node]));
  const known = new Set(after.nodes.map(({ id }) => id));
  const nodes = [
    ...after.nodes.map((node) => unionNode(old.get(node.id), node, changes)),
    ...before.nodes.filter(({ id }) => !known.has(id)).map((node) => unionNode(node, undefined, changes)),
  ];
  return { nodes, edges: unionEdges(before.edges, after.edges, changes) };
}

const empty: Graph = { nodes: [], edges: [] };

function unionNode(
  before: GraphNode | undefined,
  after: GraphNode | undefined,
  changes: Map<string, Change>,
): GraphNode {
  const hasBody = before?.body !== undefined || after?.body !== undefined;
  return {
    ...((after ?? before) as GraphNode),
    body: hasBody ? union(before?.body ?? empty, after?.body ?? empty, changes) : undefined,
  };
}

function unionEdges(
  before: readonly GraphEdge[],
  after: readonly GraphEdge[],
  changes: Map<string, Change>,
): GraphEdge[] {
  const old = new Map(before.map((edge) => [edgeName(edge), edge]));
  for (const edge of after) {
    const was = old.get(edgeName(edge));
    const isSame = was !== undefined && was.label === edge.label && was.max === edge.max;
    changes.set(edgeName(edge), was === undefined ? "added" : isSame ? "same" : "changed");
    old.delete(edgeName(edge));
  }
  for (const name of old.keys()) changes.set(name, "removed");
  return [...after, ...old.values()];
}
