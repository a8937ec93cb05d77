import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import type { Branching, FanOut } from "../graph/branching.ts";
import { reachableFrom } from "../graph/reach.ts";
import { list, type Outline, pathOf } from "./outline.ts";
import { branchesOf, branchingOfOutline, entriesOf, type Scope } from "./scopes.ts";

/** Above this many branches at once a workflow gets a warning. */
const manyBranches = 40;

/** Ways that part meet again, and nowhere before. For outlines without rings, dead ends and unknown ids. */
export function* checkForks(outline: Outline): Iterable<Finding> {
  const branching = branchingOfOutline(outline);
  for (const [fork, fanOut] of branching.fanOuts) {
    yield* checkMeeting(outline, branching, fork, fanOut);
    yield* checkEmptyBranches(outline, branching, fork, fanOut);
    if (fanOut.targets.length > manyBranches) {
      const message = `"${fork}" has ${fanOut.targets.length} branches that begin at once, each with a sandbox of its own - a map with max_concurrency runs a few at a time`;
      yield finding("NOVA224", pathOf(outline, fork), message);
    }
  }
  for (const { id, branch, other } of sharedNodes(outline, branching)) {
    const elsewhere = other.fork === undefined ? "outside of it" : `in ${titleOf(other)}`;
    const join = branch.join === null ? "the end of the item" : `"${branch.join}"`;
    const wayOut =
      failureOut(outline, branch) ??
      `enter a branch only from its fork and leave it only to ${join}, or give each way a node of its own`;
    const message = `"${id}" is both in ${titleOf(branch)} and ${elsewhere} - ${wayOut}`;
    yield finding("NOVA221", pathOf(outline, id), message);
  }
}

/** `merge` says something only where several branches come together. */
export function* checkMerges({ byId, edgesOf }: Outline): Iterable<Finding> {
  for (const { id, node, path } of byId.values()) {
    if (node?.merge === undefined || (edgesOf.get(id) ?? []).length > 1) continue;
    const message = `"${id}" has fewer than two edges out, so no branches of it come together - remove merge, or move it to the node that fans out`;
    yield finding("NOVA226", at(path, "merge"), message);
  }
}

function* checkMeeting(outline: Outline, branching: Branching, fork: string, fanOut: FanOut): Iterable<Finding> {
  if (fanOut.meeting !== null || outline.map !== undefined) return;
  const failure = failureOut(outline, { fork, join: null });
  const early = earlyEnds(outline, branching, fanOut);
  for (const { target, end } of early) {
    const wayOut = failure ?? "lead it to the node where all of them meet";
    const message = `the branch "${target}" of "${fork}" may come to the end "${end}", where the others do not - ${wayOut}`;
    yield finding("NOVA223", pathOf(outline, end), message);
  }
  if (early.length > 0) return;
  const wayOut = failure ?? "add an edge from each to the node that goes on with their results";
  const message = `the branches of "${fork}" (${list(fanOut.targets)}) do not all lead to one node where they could meet - ${wayOut}`;
  yield finding("NOVA220", pathOf(outline, fork), message);
}

/** Ends that only some branches come to, where there are nodes that all come to. */
function earlyEnds({ byId }: Outline, { graph }: Branching, { targets }: FanOut): { target: string; end: string }[] {
  const reached = targets.map((target) => ({ target, nodes: reachableFrom(graph, [target]) }));
  const isCommon = (id: string) => reached.every(({ nodes }) => nodes.has(id));
  if (!graph.ids.some(isCommon)) return [];
  const ends = graph.ids.filter((id) => byId.get(id)?.kind?.edgesOut === "none" && !isCommon(id));
  return reached.flatMap(({ target, nodes }) => ends.filter((end) => nodes.has(end)).map((end) => ({ target, end })));
}

/** What to do where nothing but ways of `onError` keeps branches from meeting earlier. */
function failureOut(outline: Outline, { fork = "", join }: Pick<Scope, "fork" | "join">): string | undefined {
  const meeting = branchingOfOutline(outline, false).fanOuts.get(fork)?.meeting ?? null;
  if (meeting === null || meeting === join) return undefined;
  return `all ways but those of onError meet at "${meeting}": lead onError there too, or to a node before it`;
}

function* checkEmptyBranches(
  outline: Outline,
  { stretch }: Branching,
  fork: string,
  { targets, meeting }: FanOut,
): Iterable<Finding> {
  for (const target of targets) {
    if ((meeting === null && outline.map === undefined) || stretch(target, meeting).length > 0) continue;
    const edge = outline.edgesOf.get(fork)?.find(({ to }) => to === target);
    const message = `the edge from "${fork}" to "${target}" is a branch without a node, because the others meet there - remove it, or put a node on it`;
    yield finding("NOVA222", edge?.path ?? outline.path, message);
  }
}

/** Nodes that are in two branches, or in one and outside: entered elsewhere than from a fork, left not to a join. */
function sharedNodes(outline: Outline, branching: Branching): { id: string; branch: Scope; other: Scope }[] {
  const homes = new Map<string, Scope>();
  const shared = new Map<string, { id: string; branch: Scope; other: Scope }>();
  const scopes: Scope[] = entriesOf(outline).map(({ id }) => ({ entry: id, join: null }));
  for (const scope of scopes) {
    const enter = (id: string) => {
      const home = homes.get(id);
      const [branch, other] = home?.fork === undefined ? [scope, home] : [home, scope];
      if (other && branch !== other) shared.set(id, { id, branch, other });
      return home === undefined;
    };
    for (const id of branching.stretch(scope.entry, scope.join, enter)) {
      homes.set(id, scope);
      scopes.push(...branchesOf(id, branching, outline.map !== undefined));
    }
  }
  return [...shared.values()];
}

function titleOf({ entry, fork }: Scope): string {
  return `the branch "${entry}" of "${fork}"`;
}
