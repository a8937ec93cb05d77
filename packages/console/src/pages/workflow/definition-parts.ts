import { Raw } from "../../json/raw.ts";
import { type Graph, graphOf } from "../../parts/graph/definition.ts";
import { type NodeText, nodesIn } from "./node-text.ts";

/** What is in a definition. */
export interface Parts {
  /** JSON. */
  text: string;
  graph: Graph;
  nodes: ReadonlyMap<string, NodeText>;
}

export function partsOf(text: string): Parts {
  return { text, graph: graphOf(new Raw(text)), nodes: nodesIn(text) };
}
