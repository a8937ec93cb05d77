import { formatJson, listMembers, readKind } from "../../json/raw.ts";
import type { Graph, GraphEdge, GraphNode } from "../../parts/graph/definition.ts";
import { type NodeText, type ParsedDefinition, readSettings } from "./definition-parts.ts";

export type Change = "added" | "removed" | "changed" | "same";

/** Two texts to compare; undefined instead if they are equal. */
export interface Sides {
  before: string;
  after: string;
}

export interface NodeDiff {
  change: Change;
  /** The Python code or the prompt. */
  code: Sides | undefined;
  settings: Sides | undefined;
}

export interface WorkflowDiff {
  /** The nodes and edges of both versions. */
  graph: Graph;
  nodes: ReadonlyMap<string, NodeDiff>;
  /** By the name from `formatEdgeName`. */
  edges: ReadonlyMap<string, Change>;
  /** Settings of the workflow. */
  settings: Sides | undefined;
}

/** Compares two definitions node by node and edge by edge. */
export function diffWorkflows(before: ParsedDefinition, after: ParsedDefinition): WorkflowDiff {
  const ids = new Set([...before.nodes.keys(), ...after.nodes.keys()]);
  const nodes = new Map(Array.from(ids, (id) => [id, diffNodes(before.nodes.get(id), after.nodes.get(id))]));
  const edges = new Map<string, Change>();
  const graph = uniteGraphs(before.graph, after.graph, edges);
  const [was, is] = [formatSettings(readSettings(before.text)), formatSettings(readSettings(after.text))];
  return { graph, nodes, edges, settings: compareTexts(was, is) };
}

export function formatEdgeName({ from, to, isOnError }: GraphEdge): string {
  return `${from}>${to}${isOnError ? "!" : ""}`;
}

function diffNodes(before: NodeText | undefined, after: NodeText | undefined): NodeDiff {
  const code = compareTexts(readCode(before), readCode(after));
  const settings = compareTexts(before && formatNodeSettings(before), after && formatNodeSettings(after));
  if (!before || !after) return { change: before ? "removed" : "added", code, settings };
  return { change: code || settings ? "changed" : "same", code, settings };
}

function readCode(node: NodeText | undefined): string | undefined {
  return node && (node.code ?? node.prompt);
}

/** Formats the settings of a node. The type includes "code", because code and prompt nodes share a type. */
function formatNodeSettings({ type, code, settings }: NodeText): string {
  const kind = code === undefined ? type : `${type}, code`;
  return formatSettings(new Map([["type", JSON.stringify(kind)], ...settings]));
}

function formatSettings(settings: ReadonlyMap<string, string>): string {
  const sorted = Array.from(settings).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, text]) => `${name}: ${formatJson(sortMembers(text))}`).join("\n");
}

/** Sorts members, because their order has no meaning. */
function sortMembers(text: string): string {
  if (readKind(text) !== "object") return text;
  const members = listMembers(text).sort((a, b) => (a.key < b.key ? -1 : 1));
  return `{${members.map(({ key, text: value }) => `${JSON.stringify(key)}:${sortMembers(value)}`).join(",")}}`;
}

function compareTexts(before: string | undefined, after: string | undefined): Sides | undefined {
  return before === after ? undefined : { before: before ?? "", after: after ?? "" };
}

function uniteGraphs(before: Graph, after: Graph, changes: Map<string, Change>): Graph {
  const old = new Map(before.nodes.map((node) => [node.id, node]));
  const afterIds = new Set(after.nodes.map(({ id }) => id));
  const nodes = [
    ...after.nodes.map((node) => uniteNodes(old.get(node.id), node, changes)),
    ...before.nodes.filter(({ id }) => !afterIds.has(id)).map((node) => uniteNodes(node, undefined, changes)),
  ];
  return { nodes, edges: uniteEdges(before.edges, after.edges, changes) };
}

const empty: Graph = { nodes: [], edges: [] };

function uniteNodes(
  before: GraphNode | undefined,
  after: GraphNode | undefined,
  changes: Map<string, Change>,
): GraphNode {
  const hasBody = before?.body !== undefined || after?.body !== undefined;
  return {
    ...((after ?? before) as GraphNode),
    body: hasBody ? uniteGraphs(before?.body ?? empty, after?.body ?? empty, changes) : undefined,
  };
}

function uniteEdges(
  before: readonly GraphEdge[],
  after: readonly GraphEdge[],
  changes: Map<string, Change>,
): GraphEdge[] {
  const old = new Map(before.map((edge) => [formatEdgeName(edge), edge]));
  for (const edge of after) {
    const was = old.get(formatEdgeName(edge));
    const isSame = was !== undefined && was.label === edge.label && was.max === edge.max;
    changes.set(formatEdgeName(edge), was === undefined ? "added" : isSame ? "same" : "changed");
    old.delete(formatEdgeName(edge));
  }
  for (const name of old.keys()) changes.set(name, "removed");
  return [...after, ...old.values()];
}
