import { at, type Finding, finding } from "../findings/finding.ts";
import { type Branching, branchingOf, detoursIn, type FanOut } from "../graph/branching.ts";
import { reachableFrom } from "../graph/graph.ts";
import { listIds, type NamedNode, type Outline, pathOf } from "./outline.ts";

/** Maximum number of branches of one node without a warning. */
const manyBranches = 40;

/**
 * Checks that the branches of each fork meet at one join and nowhere else. Other checks must have found no cycle, no
 * dead end and no unknown id before.
 */
export function* checkForks(outline: Outline): Iterable<Finding> {
  const branching = branchingOfOutline(outline);
  const plain = branchingOfOutline(outline, false);
  for (const [fork, fanOut] of branching.fanOuts) {
    if (fanOut.meeting === null && outline.map === undefined)
      yield* checkMeeting(outline, branching, fork, fanOut, failureOut(plain, fork, null));
    yield* checkEmptyBranches(outline, branching, fork, fanOut);
    if (fanOut.targets.length > manyBranches) {
      const message = `"${fork}" has ${fanOut.targets.length} branches that start at once, each with a sandbox of its own - a map with max_concurrency runs a few at a time`;
      yield finding("NOVA224", pathOf(outline, fork), message);
    }
  }
  for (const { id, branch, other } of homesOf(outline, branching).shared) {
    const elsewhere = isBranch(other) ? `in ${titleOf(other)}` : "outside of it";
    const join = branch.join === null ? "the end of the item" : `"${branch.join}"`;
    const wayOut =
      failureOut(plain, branch.fork.node, branch.join) ??
      `enter a branch only from its fork and leave it only to ${join}, or give each branch its own node`;
    const message = `"${id}" is both in ${titleOf(branch)} and ${elsewhere} - ${wayOut}`;
    yield finding("NOVA221", pathOf(outline, id), message);
  }
}

/** Checks that `merge` is only set where several branches meet. */
export function* checkMerges({ byId, edgesOf }: Outline): Iterable<Finding> {
  for (const { id, node, path } of byId.values()) {
    if (node?.merge === undefined || (edgesOf.get(id) ?? []).length > 1) continue;
    const message = `"${id}" has fewer than two edges out, so none of its branches join - remove merge, or move it to the node that fans out`;
    yield finding("NOVA226", at(path, "merge"), message);
  }
}

function* checkMeeting(
  outline: Outline,
  branching: Branching,
  fork: string,
  fanOut: FanOut,
  failure: string | undefined,
): Iterable<Finding> {
  const early = earlyEnds(outline, branching, fanOut);
  for (const { target, end } of early) {
    const wayOut = failure ?? "lead it to the node where all of them meet";
    const message = `the branch "${target}" of "${fork}" may reach the end "${end}", which the others do not reach - ${wayOut}`;
    yield finding("NOVA223", pathOf(outline, end), message);
  }
  if (early.length > 0) return;
  const wayOut = failure ?? "add an edge from each to the node that continues with their results";
  const message = `the branches of "${fork}" (${listIds(fanOut.targets)}) do not all lead to one node where they could meet - ${wayOut}`;
  yield finding("NOVA220", pathOf(outline, fork), message);
}

/** Returns the ends that only some branches reach. If the branches have no common node, returns an empty list. */
function earlyEnds({ byId }: Outline, { graph }: Branching, { targets }: FanOut): { target: string; end: string }[] {
  const reached = targets.map((target) => ({ target, nodes: reachableFrom(graph, [target]) }));
  const isCommon = (id: string) => reached.every(({ nodes }) => nodes.has(id));
  if (![...(reached[0]?.nodes ?? [])].some(isCommon)) return [];
  return reached.flatMap(({ target, nodes }) => {
    const ends = [...nodes].filter((id) => byId.get(id)?.kind?.edgesOut === "none" && !isCommon(id));
    return ends.map((end) => ({ target, end }));
  });
}

/**
 * Returns the advice to move `onError`, if the branches would meet earlier without it. `plain` is the branching without
 * `onError`.
 */
function failureOut(plain: Branching, fork: string, join: string | null): string | undefined {
  const meeting = plain.fanOuts.get(fork)?.meeting ?? null;
  if (meeting === null || meeting === join) return undefined;
  return `all paths except those of onError meet at "${meeting}": lead onError there too, or to a node before it`;
}

function* checkEmptyBranches(outline: Outline, { stretch }: Branching, fork: string, { targets, meeting }: FanOut) {
  for (const target of targets) {
    if ((meeting === null && outline.map === undefined) || stretch(target, meeting).length > 0) continue;
    const edge = outline.edgesOf.get(fork)?.find(({ to }) => to === target);
    const message = `the edge from "${fork}" to "${target}" is a branch without a node, because the others meet there - remove it, or put a node on it`;
    yield finding("NOVA222", edge?.path ?? outline.path, message);
  }
}

function titleOf({ entry, fork }: Branch): string {
  return `the branch "${entry}" of "${fork.node}"`;
}

/** A branch of a fork, or (without `fork`) the part of a body that is in no branch. */
export interface Scope {
  entry: string;
  join: string | null;
  fork?: { node: string; scope: Scope };
}

interface Homes {
  of: ReadonlyMap<string, Scope>;
  /** Nodes that are in two branches, or in a branch and also outside it. */
  shared: { id: string; branch: Branch; other: Scope }[];
}

export type Branch = Scope & Required<Pick<Scope, "fork">>;

/**
 * Finds the branches of a workflow or of the body of a map, with or without the edges of `onError`. Edges that name an
 * unknown node are left out.
 */
export function branchingOfOutline({ byId, edges, map }: Outline, withFailures = true): Branching {
  const points = [...byId.values()].map((node) => ({
    id: node.id,
    onError: withFailures ? node.onError : undefined,
    fansOut: node.kind?.edgesOut === "one",
    isDone: map !== undefined && node.kind?.edgesOut === "none",
  }));
  const known = edges.flatMap(({ from = "", to = "", repeats }) =>
    byId.has(from) && byId.has(to) ? [{ from, to, repeats }] : [],
  );
  const [onward, loops] = [known.filter(({ repeats }) => !repeats), known.filter(({ repeats }) => repeats)];
  return branchingOf(points, onward, loops);
}

/**
 * Returns the start of a workflow. For the body of a map, it returns the nodes without an incoming edge, except those
 * that only a loop edge reaches.
 */
export function entriesOf({ nodes, edges, byId, forward, map }: Outline): NamedNode[] {
  const unique = nodes.filter((node) => byId.get(node.id) === node);
  if (map === undefined) return unique.filter((node) => node.kind?.edgesIn === "none");
  const loops = edges.flatMap(({ from = "", to = "", repeats }) => (repeats ? [{ from, to }] : []));
  const detours = new Set(detoursIn(forward, loops));
  const isEntry = ({ id }: NamedNode) => (forward.predecessors.get(id) ?? []).every((before) => before === id);
  return unique.filter((node) => isEntry(node) && !detours.has(node.id));
}

/**
 * Assigns every node to the innermost branch that contains it. It visits the nodes outside the branches of a fork
 * first, and the branches afterwards.
 */
export function homesOf(outline: Outline, branching: Branching): Homes {
  const homes = new Map<string, Scope>();
  const shared = new Map<string, Homes["shared"][number]>();
  const scopes: Scope[] = entriesOf(outline).map(({ id }) => ({ entry: id, join: null }));
  for (const scope of scopes) {
    const enter = (id: string) => {
      const home = homes.get(id);
      const [branch, other] = home?.fork === undefined ? [scope, home] : [home, scope];
      if (other && branch !== other && isBranch(branch)) shared.set(id, { id, branch, other });
      return home === undefined;
    };
    for (const id of branching.stretch(scope.entry, scope.join, enter)) {
      homes.set(id, scope);
      const fanOut = branching.fanOuts.get(id);
      if (!fanOut || (fanOut.meeting === null && outline.map === undefined)) continue;
      for (const entry of fanOut.targets) scopes.push({ entry, join: fanOut.meeting, fork: { node: id, scope } });
    }
  }
  return { of: homes, shared: [...shared.values()] };
}

export function isBranch(scope: Scope): scope is Branch {
  return scope.fork !== undefined;
}
