import { defined } from "../defined.ts";
import { at, type Finding, type FindingCode, finding, nearest } from "../findings/finding.ts";
import { type Graph, graphOf } from "../graph/graph.ts";
import type { LineColumn } from "../json/scan.ts";
import type { ReadBody, ReadEdge, ReadNode } from "../parse/read.ts";
import { normalName } from "../references/grammar.ts";
import type { Executor } from "../workflow.ts";

/** A node with an id, although its fields may be wrong. */
export type NamedNode = ReadNode & { id: string };

export interface Outline {
  path: string;
  /** The words for this part of the definition in messages: `the workflow`, or `the body of "each"`. */
  title: string;
  map?: ReadNode;
  nodes: NamedNode[];
  edges: ReadEdge[];
  byId: Map<string, NamedNode>;
  edgesOf: Map<string, ReadEdge[]>;
  /** The graph with misspelt ids corrected, so that one typing mistake is not reported again as an unreachable node. */
  graph: Graph;
  forward: Graph;
  /** Maps the id of every node of the definition to the title of the workflow or the map that directly contains it. */
  homeOf: ReadonlyMap<string, string>;
}

/** Returns an outline for the workflow and one for each map in it, outer maps before inner ones. */
export function outlinesOf(body: ReadBody): Outline[] {
  const homeOf = new Map<string, string>();
  const bodies: { body: ReadBody; title: string; map?: ReadNode }[] = [{ body, title: "the workflow" }];
  for (const { body, title } of bodies) {
    for (const node of body.nodes) {
      if (node.id !== undefined && !homeOf.has(node.id)) homeOf.set(node.id, title);
      if (node.body) bodies.push({ body: node.body, title: `the body of "${node.id ?? node.path}"`, map: node });
    }
  }
  // A body whose list of nodes or list of edges is missing is not checked, because every node would get a finding of
  // its own.
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

/** Builds a finding about a line of a node's code. `problem` completes its message. */
export function findingInCode(
  code: FindingCode,
  { id, python }: Pick<NamedNode, "id" | "python">,
  { line, column }: LineColumn,
  problem: string,
): Finding {
  const place = defined({ line, column, file: python?.file });
  return finding(code, python?.path ?? "$", `node "${id}": line ${line}: ${problem}`, place);
}

/** Returns the path of a node in the definition. For an unknown id, it is the path of the workflow or map. */
export function pathOf({ byId, path }: Outline, id: string | undefined): string {
  return byId.get(id ?? "")?.path ?? path;
}

export function listIds(ids: readonly string[]): string {
  const first = ids.slice(0, 3).map((id) => `"${id}"`);
  return ids.length > 3 ? `${first.join(", ")} and ${ids.length - 3} more` : first.join(", ");
}

/** Finds the ids of nodes by a name in a reference, which may be the name or the id of a node. */
export class NodeNames {
  readonly #exact = new Map<string, Set<string>>();
  readonly #normal = new Map<string, Set<string>>();

  constructor(outlines: readonly Outline[]) {
    for (const { id, node } of outlines.flatMap(({ nodes }) => nodes)) {
      for (const name of node?.name === undefined ? [id] : [id, node.name]) {
        add(this.#exact, name, id);
        add(this.#normal, normalName(name), id);
      }
    }
  }

  /** Returns the nodes with this name, or else those whose names differ only in case and blanks. */
  idsOf(name: string): ReadonlySet<string> {
    return this.#exact.get(name) ?? this.#normal.get(normalName(name)) ?? new Set();
  }

  of(ids: ReadonlySet<string>): string[] {
    return [...this.#exact].flatMap(([name, own]) => ([...own].some((id) => ids.has(id)) ? [name] : []));
  }
}

function add(names: Map<string, Set<string>>, name: string, id: string): void {
  names.set(name, (names.get(name) ?? new Set()).add(id));
}

/** Reports NOVA116: nodes whose names are so similar that a reference could mean either. */
export function* checkNodeNames(outlines: readonly Outline[]): Iterable<Finding> {
  const nodes = outlines.flatMap(({ nodes }) => nodes);
  const taken = new Map<string, NamedNode>(nodes.map((node) => [normalName(node.id), node]));
  for (const node of nodes) {
    if (node.node?.name === undefined || normalName(node.node.name) === "") continue;
    const name = normalName(node.node.name);
    const other = taken.get(name);
    if (!other) taken.set(name, node);
    else if (other !== node) {
      const message = `the name ${JSON.stringify(node.node.name)} of "${node.id}" is one of "${other.id}", too: references in prompts could mean both - give each node its own name`;
      yield finding("NOVA116", at(node.path, "name"), message);
    }
  }
}
