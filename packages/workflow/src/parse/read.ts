import { AuthoredEdge } from "../authored/edge.ts";
import type { NodeKind } from "../authored/kind.ts";
import { defined } from "../defined.ts";
import { at, type Finding } from "../findings/finding.ts";
import { isObject } from "../json/exact.ts";
import type { Body, Condition, Edge, Node, NodeType } from "../workflow.ts";
import { findingsOf } from "./issues.ts";
import type { PartOfDraft } from "./part.ts";

/** The authored form: the JSON and the files beside it, by path relative to the JSON's folder, with `/`. */
export interface WorkflowSource {
  text: string;
  fileName: string;
  /** The program that made `text`. Findings name its lines. */
  program?: string;
  /** Name of the folder (or of a single JSON file, without `.json`): the last resort for an id. */
  folder?: string;
  /** `.py`, `.txt` and `.md` files, including `lib/`; the lock file and the locked code. */
  files: Record<string, string>;
  /** True for a definition from the API: its requirements may name no local file. */
  isSent?: true;
  part?: PartOfDraft;
  /** True if no model may be asked here (`NOVA_MODELS=off`). */
  modelsOff?: true;
}

/** Python of a workflow, for a check of Python. It is present even if the graph has errors. */
export interface PythonSource {
  node?: { id: string; type: NodeType };
  code: string;
  /** File with the code; absent if the code is in the JSON, at `path`. */
  file?: string;
  path: string;
}

/** A node, as far as it could be read: enough for checks of the graph even if its fields are wrong. */
export interface ReadNode {
  path: string;
  id?: string;
  kind?: NodeKind;
  onError?: string;
  node?: Node;
  python?: PythonSource;
  body?: ReadBody;
  findings: Finding[];
}

/** An edge, as far as it could be read. */
export interface ReadEdge {
  path: string;
  from?: string;
  to?: string;
  condition?: Condition;
  /** True for an edge with a `max`: it leads back, and checks of the graph's shape leave it out. */
  repeats: boolean;
  edge?: Edge;
  findings: Finding[];
}

export interface ReadBody {
  path: string;
  isWhole: boolean;
  nodes: ReadNode[];
  edges: ReadEdge[];
}

/** Reads each node and each edge separately. A field that is no list counts as empty; `checkLists` reports it. */
export function readBody(
  lists: { nodes?: unknown; edges?: unknown },
  paths: { nodes: string; edges: string },
  readNode: (value: unknown, path: string) => ReadNode,
): ReadBody {
  return {
    path: paths.nodes,
    isWhole: Array.isArray(lists.nodes) && Array.isArray(lists.edges),
    nodes: listOf(lists.nodes).map((node, index) => readNode(node, at(paths.nodes, index))),
    edges: listOf(lists.edges).map((edge, index) => readEdge(edge, at(paths.edges, index))),
  };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the complete nodes and edges: all of them if there is no finding. */
export function bodyOf({ nodes, edges }: ReadBody): Body {
  return { nodes: nodes.flatMap((read) => read.node ?? []), edges: edges.flatMap((read) => read.edge ?? []) };
}

/** Yields every node, each directly before the nodes of its own body. */
export function* nodesIn({ nodes }: ReadBody): Iterable<ReadNode> {
  for (const node of nodes) {
    yield node;
    if (node.body) yield* nodesIn(node.body);
  }
}

export function* findingsIn({ nodes, edges }: ReadBody): Iterable<Finding> {
  for (const { findings, body } of nodes) {
    yield* findings;
    if (body) yield* findingsIn(body);
  }
  for (const { findings } of edges) yield* findings;
}

function readEdge(value: unknown, path: string): ReadEdge {
  const loose = isObject(value) ? value : {};
  const repeats = loose.max !== undefined;
  const parsed = AuthoredEdge.safeParse(value);
  if (parsed.success) {
    const edge = defined(parsed.data);
    return { path, ...edge, repeats, edge, findings: [] };
  }
  const ends = defined({ from: textIn(loose.from), to: textIn(loose.to) });
  const subject = { name: edgeName(loose), value, path, schema: AuthoredEdge, codes: {} };
  return { path, ...ends, repeats, findings: findingsOf(parsed.error.issues, subject) };
}

export function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function edgeName({ from, to }: { from?: unknown; to?: unknown }): string {
  return `the edge from ${named(from)} to ${named(to)}`;
}

function named(id: unknown): string {
  return typeof id === "string" ? `"${id}"` : "nowhere";
}
