import { AuthoredEdge } from "../authored/edge.ts";
import { defined } from "../defined.ts";
import type { Finding } from "../findings/finding.ts";
import { at } from "../findings/text.ts";
import { isObject } from "../json/value.ts";
import type { Body } from "../workflow.ts";
import { findingsOf } from "./issues.ts";
import type { ReadBody, ReadEdge, ReadNode } from "./read.ts";

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
