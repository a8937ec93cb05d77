import type { Raw } from "../../json/raw.ts";

/** The parts of a node that graphs show. */
export interface GraphNode {
  id: string;
  type: string;
  name: string;
  description: string | undefined;
  isPrompt: boolean;
  onError: string | undefined;
  /** The graph that a map runs for each item, or the graph of a child run after the page has loaded this run. */
  body: Graph | undefined;
  /** Names of the credentials that the node receives; undefined: the workflow decides. */
  credentials: readonly string[] | undefined;
}

export interface GraphEdge {
  from: string;
  to: string;
  label: string;
  /** The maximum number of traversals of an edge that leads back. */
  max: number | undefined;
  /** Whether the edge leads to the node that handles an error. */
  isOnError: boolean;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

/** Parses the graph of a definition. Unknown parts are ignored. */
export function parseGraph(definition: Raw): Graph {
  return parseBody(JSON.parse(definition.text));
}

function parseBody(body: unknown): Graph {
  const { nodes, edges } = asRecord(body);
  return createGraph(asList(nodes).map(parseNode), asList(edges).map(parseEdge));
}

/** Creates a graph, with an edge for each node that handles an error. */
export function createGraph(nodes: GraphNode[], edges: readonly GraphEdge[]): Graph {
  const onErrors = nodes.flatMap(({ id, onError }): GraphEdge[] =>
    onError === undefined ? [] : [{ from: id, to: onError, label: "error", max: undefined, isOnError: true }],
  );
  return { nodes, edges: [...joinParallelEdges(edges), ...onErrors] };
}

/** Joins parallel edges into one line that lists all conditions. */
function joinParallelEdges(edges: readonly GraphEdge[]): GraphEdge[] {
  return Array.from(Map.groupBy(edges, ({ from, to }) => `${from}>${to}`).values(), (parallelEdges) => ({
    ...(parallelEdges[0] as GraphEdge),
    label: parallelEdges.flatMap(({ label }) => label || []).join(", "),
    max: parallelEdges.find(({ max }) => max !== undefined)?.max,
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

export function asRecord(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Lists all nodes; the nodes of a body follow their map. */
export function listNodes({ nodes }: Graph): GraphNode[] {
  return nodes.flatMap((node) => [node, ...(node.body ? listNodes(node.body) : [])]);
}

/** Adds a prefix to all node ids, for a graph that is shown inside a node of another graph. */
export function prefixGraph(graph: Graph, prefix: string): Graph {
  if (prefix === "") return graph;
  const { nodes, edges } = graph;
  return {
    nodes: nodes.map((node) => ({ ...node, id: prefix + node.id, body: node.body && prefixGraph(node.body, prefix) })),
    edges: edges.map((edge) => ({ ...edge, from: prefix + edge.from, to: prefix + edge.to })),
  };
}
