import type { NodeKind } from "../authored/kind.ts";
import type { Finding } from "../findings/finding.ts";
import type { Condition, Edge, Node } from "../workflow.ts";
import type { PythonSource } from "./source.ts";

/** A node as far as it could be read: enough for questions about the graph even if its fields are wrong. */
export interface ReadNode {
  path: string;
  id?: string;
  kind?: NodeKind;
  onError?: string;
  /** Complete and right in itself. */
  node?: Node;
  python?: PythonSource;
  /** Of a node with nodes of its own. */
  body?: ReadBody;
  findings: Finding[];
}

/** An edge as far as it could be read. */
export interface ReadEdge {
  path: string;
  from?: string;
  to?: string;
  condition?: Condition;
  /** Has a `max`: it leads back, and questions about the shape of the graph leave it out. */
  repeats: boolean;
  edge?: Edge;
  findings: Finding[];
}

/** The nodes and edges of the workflow, or of a map. */
export interface ReadBody {
  /** Path of the list of nodes. */
  path: string;
  /** Neither list is missing. */
  isWhole: boolean;
  nodes: ReadNode[];
  edges: ReadEdge[];
}
