import type { Raw } from "../../json/raw.ts";

/** What the graph shows of a node of a definition. */
export interface GraphNode {
  id: string;
  type: string;
  name: string;
  description: string | undefined;
  isPrompt: boolean;
  onError: string | undefined;
  /** Of a map what runs for each item; of a node that runs another workflow that one, once it is read. */
  body: Graph | undefined;
  /** Names of those that it gets; undefined: as the workflow says. */
  credentials: readonly string[] | undefined;
}

export interface GraphEdge {
  from: string;
  to: string;
  label: string;
  /** It leads back: how often it may be taken. */
  max: number | undefined;
  /** Where a node goes that has failed. */
  isOnError: boolean;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

/** The graph of a definition as the API answers it; parts that a later release may add are left out. */
export function parseGraph(definition: Raw): Graph {
  return parseBody(JSON.parse(definition.text));
}

function parseBody(body: unknown): Graph {
  const { nodes, edges } = asRecord(body);
  const found = asList(nodes).map(parseNode);
  const onErrors = found.flatMap(({ id, onError }): GraphEdge[] =>
    onError === undefined ? [] : [{ from: id, to: onError, label: "error", max: undefined, isOnError: true }],
  );
  return { nodes: found, edges: [...joinParallelEdges(asList(edges).map(parseEdge)), ...onErrors] };
}

/** Edges that lead the same way are one line, with all of their conditions. */
function joinParallelEdges(edges: readonly GraphEdge[]): GraphEdge[] {
  return Array.from(Map.groupBy(edges, ({ from, to }) => `${from}>${to}`).values(), (same) => ({
    ...(same[0] as GraphEdge),
    label: same.map(({ label }) => label).join(", "),
    max: same.find(({ max }) => max !== undefined)?.max,
  }));
}

function parseNode(value: unknown): GraphNode {
  const { id, type, name, description, executor, onError, body, credentials } = asRecord(value);
  return {
    id: String(id),
    type: String(type),
    name: typeof name === "string" ? name : String(id),
    description: typeof description === "string" ? description : undefined,
    isPrompt: asRecord(executor).kind === "prompt",
    onError: typeof onError === "string" ? onError : undefined,
    body: body === undefined ? undefined : parseBody(body),
    credentials: credentials === undefined ? undefined : asList(credentials).map(String),
  };
}

function parseEdge(value: unknown): GraphEdge {
  const { from, to, condition, max } = asRecord(value);
  return {
    from: String(from),
    to: String(to),
    label: condition === undefined ? "" : String(condition),
    max: typeof max === "number" ? max : undefined,
    isOnError: false,
  };
}

function asRecord(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === "object" ? (value as Record<string, unknown>) : {};
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Every node, those of bodies behind their map. */
export function listNodes({ nodes }: Graph): GraphNode[] {
  return nodes.flatMap((node) => [node, ...(node.body ? listNodes(node.body) : [])]);
}

/** The same graph inside of another one's node. */
export function prefixGraph(graph: Graph, prefix: string): Graph {
  if (prefix === "") return graph;
  const { nodes, edges } = graph;
  return {
    nodes: nodes.map((node) => ({ ...node, id: prefix + node.id, body: node.body && prefixGraph(node.body, prefix) })),
    edges: edges.map((edge) => ({ ...edge, from: prefix + edge.from, to: prefix + edge.to })),
  };
}
