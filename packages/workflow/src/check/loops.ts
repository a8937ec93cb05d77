import { at, type Finding, finding } from "../findings/finding.ts";
import { canReach, defaultLabel, reachableFrom } from "../graph/graph.ts";
import { edgeName, type ReadEdge } from "../parse/read.ts";
import { branchingOfOutline, homesOf } from "./forks.ts";
import type { NamedNode, Outline } from "./outline.ts";

/** Checks that edges with a `max` lead back from a decision that also has an edge forward. */
export function* checkLoops(outline: Outline): Iterable<Finding> {
  const { byId, edgesOf } = outline;
  for (const node of byId.values()) {
    const edges = edgesOf.get(node.id) ?? [];
    const loops = edges.filter(({ repeats }) => repeats);
    if (loops.length === 0 || node.kind === undefined) continue;
    if (!chooses(node)) {
      for (const edge of loops) yield noChoice(node, edge, outline);
      continue;
    }
    const before = canReach(outline.forward, [node.id]);
    for (const edge of loops) yield* checkLoop(edge, outline, before);
    yield* checkWayOn(node, edges, loops);
  }
}

function* checkWayOn({ id, path, kind }: NamedNode, edges: ReadEdge[], loops: ReadEdge[]): Iterable<Finding> {
  if (loops.length === edges.length) {
    const message = `all edges of "${id}" lead back, so a run could not reach an end - add one that leads forward, with "condition": "default"`;
    yield finding("NOVA244", path, message);
  } else if (kind?.edgesOut === "choices" && !edges.some(({ condition }) => condition === defaultLabel)) {
    const message = `the approval "${id}" leads back a limited number of times and has no edge for the time after that - add an edge with "condition": "default"`;
    yield finding("NOVA245", path, message);
  }
}

/** Checks that no loop leads into or out of a branch. `checkForks` must have found no error before. */
export function* checkLoopBranches(outline: Outline): Iterable<Finding> {
  const loops = outline.edges.filter(({ repeats }) => repeats);
  if (loops.length === 0) return;
  const homes = homesOf(outline, branchingOfOutline(outline)).of;
  for (const edge of loops) {
    const { from = "", to = "" } = edge;
    if (homes.get(from) === homes.get(to)) continue;
    const message = `${edgeName(edge)} leads into a branch or out of it - lead it to a node of the same branch, or from a node after the join to the fork or before it`;
    yield finding("NOVA242", at(edge.path, "to"), message);
  }
}

function chooses({ kind }: NamedNode): boolean {
  return kind?.edgesOut === "conditions" || kind?.edgesOut === "choices";
}

function noChoice({ id, kind }: NamedNode, edge: ReadEdge, outline: Outline): Finding {
  const counting = countingEdge(outline, reachableFrom(outline.graph, [edge.to ?? ""]), canReach(outline.graph, [id]));
  const wayOut = counting?.repeats
    ? `remove it, because ${edgeName(counting)} counts the rounds`
    : counting
      ? `move it to the edge from "${counting.from}" to "${counting.to}", which is taken by choice`
      : "let a decision or an approval in the loop choose whether to repeat it, and give its edge the max, or remove max";
  const message = `${edgeName(edge)} has a max, but "${id}" is of type ${kind?.type} and decides nothing - ${wayOut}`;
  return finding("NOVA240", at(edge.path, "max"), message);
}

function* checkLoop(edge: ReadEdge, outline: Outline, before: ReadonlySet<string>): Iterable<Finding> {
  const { to = "", condition } = edge;
  if (condition === defaultLabel) {
    const message = `${edgeName(edge)} is the default one and has a max - give it a condition of its own: the default edge must lead forward`;
    yield finding("NOVA243", at(edge.path, "max"), message);
  }
  if (!outline.byId.has(to)) return;
  if (!before.has(to)) {
    const why = whyNoRound(edge, outline);
    if (why) yield finding("NOVA241", at(edge.path, "max"), `${edgeName(edge)} has a max, ${why}`);
  }
}

/**
 * Says why an edge with a `max` is refused: either no path leads back, or another edge of the loop has a `max`, too.
 * Returns undefined if that other edge gets a finding of its own, because no decision chooses it.
 */
function whyNoRound({ from = "", to = "", path }: ReadEdge, { edges, graph, byId }: Outline): string | undefined {
  const [after, before] = [reachableFrom(graph, [to]), canReach(graph, [from])];
  const other = edges.find(
    (edge) => edge.repeats && edge.path !== path && after.has(edge.from ?? "") && before.has(edge.to ?? ""),
  );
  const source = after.has(from) ? byId.get(other?.from ?? "") : undefined;
  if (other && source && !chooses(source)) return undefined;
  if (other && source)
    return `and on the way back ${edgeName(other)} has one, too; one edge counts the rounds - remove one of the two`;
  return `which says how often a loop may go round, but no way leads from "${to}" back to "${from}" - lead "${to}", or a node after it, to "${from}" or to a node before that (without a max), or remove max`;
}

/**
 * Finds an edge of the loop that can have the `max`: an edge that a decision or an approval chooses, and that is not
 * the default edge.
 */
export function countingEdge({ edges, byId }: Outline, after: ReadonlySet<string>, before: ReadonlySet<string>) {
  const isOnRound = ({ from = "", to = "" }: ReadEdge) => after.has(from) && before.has(to);
  return edges.find((edge) => {
    const chooser = byId.get(edge.from ?? "");
    return chooser !== undefined && chooses(chooser) && edge.condition !== defaultLabel && isOnRound(edge);
  });
}
