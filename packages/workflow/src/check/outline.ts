import { defined } from "../defined.ts";
import { type Finding, type FindingCode, finding } from "../findings/finding.ts";
import { nearest } from "../findings/text.ts";
import { type Graph, graphOf } from "../graph/graph.ts";
import type { ReadBody, ReadEdge, ReadNode } from "../parse/read.ts";
import type { Executor } from "../workflow.ts";

/** A node that can be spoken of, though its fields may be wrong. */
export type NamedNode = ReadNode & { id: string };

/** What the checks of a body look at, of the workflow's or a map's: all that could be read, right or not. */
export interface Outline {
  /** Path of the list of nodes. */
  path: string;
  /** `the workflow`, `the body of "each"`. */
  title: string;
  /** Of a map; absent where it is the workflow itself. */
  map?: ReadNode;
  nodes: NamedNode[];
  edges: ReadEdge[];
  /** The first node of an id. */
  byId: Map<string, NamedNode>;
  edgesOf: Map<string, ReadEdge[]>;
  /** With a misspelt id corrected: one typing mistake should not be reported again as an unreachable node. */
  graph: Graph;
  /** The same without edges that may repeat. */
  forward: Graph;
  /** Of every node of the definition: the title of the body that it is in. */
  homeOf: ReadonlyMap<string, string>;
}

/** The workflow, and the body of every map in it, the outer ones first. */
export function outlinesOf(body: ReadBody): Outline[] {
  const homeOf = new Map<string, string>();
  const bodies: { body: ReadBody; title: string; map?: ReadNode }[] = [{ body, title: "the workflow" }];
  for (const { body, title } of bodies) {
    for (const node of body.nodes) {
      if (node.id !== undefined && !homeOf.has(node.id)) homeOf.set(node.id, title);
      if (node.body) bodies.push({ body: node.body, title: `the body of "${node.id ?? node.path}"`, map: node });
    }
  }
  // Without one of the lists every node would be wrong: nothing that the missing list does not say already.
  const whole = bodies.filter(({ body }) => body.isWhole);
  return whole.map(({ body, ...place }) => ({ ...place, homeOf, ...connected(body, homeOf) }));
}

function connected({ nodes: read, edges, path }: ReadBody, homeOf: Outline["homeOf"]) {
  const nodes = read.filter((node): node is NamedNode => node.id !== undefined);
  const byId = new Map(nodes.toReversed().map((node) => [node.id, node]));
  const ids = [...byId.keys()];
  const meant = (id: string | undefined) => (id === undefined || homeOf.has(id) ? id : nearest(id, ids));
  const arrows = (some: readonly ReadEdge[]) =>
    some.map(({ from, to }) => ({ from: meant(from) ?? "", to: meant(to) ?? "" }));
  const targets = nodes.map(({ id, onError }) => ({ id, onError: meant(onError) }));
  return {
    path,
    nodes,
    edges,
    byId,
    edgesOf: Map.groupBy(edges, (edge) => edge.from ?? ""),
    graph: graphOf(targets, arrows(edges)),
    forward: graphOf(targets, arrows(edges.filter((edge) => !edge.repeats))),
  };
}

export function executorOf({ node }: ReadNode): Executor | undefined {
  return node && "executor" in node ? node.executor : undefined;
}

/** A finding about a line of a node's code. `problem` is the rest of its sentence. */
export function findingInCode(
  code: FindingCode,
  { id, python }: Pick<NamedNode, "id" | "python">,
  { line, column }: { line: number; column: number },
  problem: string,
): Finding {
  const place = defined({ line, column, file: python?.file });
  return finding(code, python?.path ?? "$", `node "${id}": line ${line}: ${problem}`, place);
}

/** Path of a node; of an unknown one, of the list of nodes. */
export function pathOf({ byId, path }: Outline, id: string | undefined): string {
  return byId.get(id ?? "")?.path ?? path;
}

/** Ids as a sentence can carry them. */
export function list(ids: readonly string[]): string {
  const first = ids.slice(0, 3).map((id) => `"${id}"`);
  return ids.length > 3 ? `${first.join(", ")} and ${ids.length - 3} more` : first.join(", ");
}
