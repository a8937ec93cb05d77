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
  yield* checkBorders(outline, branching);
}

/** `merge` says something only where several branches come together. */
export function* checkMerges({ byId, edgesOf }: Outline): Iterable<Finding> {
  for (const { id, node, path } of byId.values()) {
    if (node?.merge === undefined || (edgesOf.get(id) ?? []).length > 1) continue;
    const message = `"${id}" has no several edges out whose branches merge could be about - remove merge, or move it to the node that fans out`;
    yield finding("NOVA226", at(path, "merge"), message);
  }
}

function* checkMeeting(outline: Outline, { graph }: Branching, fork: string, fanOut: FanOut): Iterable<Finding> {
  if (fanOut.meeting !== null || outline.map !== undefined) return;
  const reached = fanOut.targets.map((target) => reachableFrom(graph, [target]));
  const isCommon = (id: string) => reached.every((some) => some.has(id));
  const early = fanOut.targets.flatMap((target, index) =>
    [...(reached[index] ?? [])]
      .filter((id) => outline.byId.get(id)?.kind?.edgesOut === "none" && !isCommon(id))
      .map((end) => ({ target, end })),
  );
  if (graph.ids.some(isCommon) && early.length > 0) {
    for (const { target, end } of early) {
      const message = `the branch "${target}" of "${fork}" may come to the end "${end}", where the others do not - lead it to the node where all of them meet`;
      yield finding("NOVA223", pathOf(outline, end), message);
    }
    return;
  }
  const message = `the branches of "${fork}" (${list(fanOut.targets)}) do not all lead to one node where they could meet - add an edge from each to the node that goes on with their results`;
  yield finding("NOVA220", pathOf(outline, fork), message);
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

/** Every node belongs to one branch, or to none: branches are entered at their fork and left to their join. */
function* checkBorders(outline: Outline, branching: Branching): Iterable<Finding> {
  const homes = new Map<string, Scope>();
  const twice = new Map<string, [Scope, Scope]>();
  const scopes: Scope[] = entriesOf(outline).map(({ id }) => ({ entry: id, join: null }));
  for (const scope of scopes) {
    const enter = (id: string) => {
      const home = homes.get(id);
      if (home && home !== scope) twice.set(id, home.fork === undefined ? [scope, home] : [home, scope]);
      return home === undefined;
    };
    for (const id of branching.stretch(scope.entry, scope.join, enter)) {
      homes.set(id, scope);
      scopes.push(...branchesOf(id, branching, outline.map !== undefined));
    }
  }
  for (const [id, [branch, other]] of twice) {
    const elsewhere = other.fork === undefined ? "outside of it" : `in ${titleOf(other)}`;
    const join = branch.join === null ? "the end of the item" : `"${branch.join}"`;
    const message = `"${id}" is both in ${titleOf(branch)} and ${elsewhere} - enter a branch only from its fork and leave it only to ${join}, or give each way a node of its own`;
    yield finding("NOVA221", pathOf(outline, id), message);
  }
}

function titleOf({ entry, fork }: Scope): string {
  return `the branch "${entry}" of "${fork}"`;
}
