import type { Finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import type { Body } from "../workflow.ts";
import { readEdge } from "./edges.ts";
import type { ReadBody, ReadNode } from "./read.ts";
import type { PythonSource } from "./source.ts";

/** Each node and each edge on its own; lists that are none are empty here, and reported elsewhere. */
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

/** What of it is complete: all, where nothing is wrong. */
export function bodyOf({ nodes, edges }: ReadBody): Body {
  return { nodes: nodes.flatMap((read) => read.node ?? []), edges: edges.flatMap((read) => read.edge ?? []) };
}

/** Every node, each directly before those of its own body. */
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

export function pythonOf(body: ReadBody): PythonSource[] {
  return [...nodesIn(body)].flatMap(({ python }) => python ?? []);
}
