import { membersOf, type TraceBranch, type TraceEntry } from "@nova/engine";
import { shorten } from "./text.ts";

/**
 * A line of the tree. `depth` counts branches; `which` names one of several visits or of a map's items; `title` names
 * the lines below.
 */
export type TreeLine = { depth: number } & (
  | { entry: TraceEntry; which: string }
  | { visits: TraceEntry[] }
  | { title: string }
);

/** A node with more visits in a scope gets one line; so does a map with more items. */
const maxUnfolded = 5;
/** More failures than this share one line. */
const maxFailures = 20;

/** Builds the tree. `unfold`: every visit and every item has its own lines. */
export function buildTree(entries: readonly TraceEntry[], unfold: boolean, depth = 0): TreeLine[] {
  const visits = new Map<string, number>();
  const repeated = unfold ? new Map<string, TraceEntry[]>() : repeatedIn(entries);
  return entries.flatMap((entry): TreeLine[] => {
    const visit = (visits.get(entry.node_id) ?? 0) + 1;
    visits.set(entry.node_id, visit);
    const group = repeated.get(entry.node_id);
    const which = visit > 1 ? `(${visit})` : "";
    if (!group) return [{ depth, entry, which }, ...insideOf([entry], unfold, depth + 1)];
    return visit === 1 ? foldedLines(group, depth) : [];
  });
}

function repeatedIn(entries: readonly TraceEntry[]): Map<string, TraceEntry[]> {
  const groups = Map.groupBy(entries, ({ node_id }) => node_id);
  return new Map(Array.from(groups).filter(([, group]) => group.length > maxUnfolded));
}

/** One line for the visits that succeeded, and one for each failure. */
function foldedLines(group: readonly TraceEntry[], depth: number): TreeLine[] {
  const [failed, others] = [group.filter(isFailure), group.filter((entry) => !isFailure(entry))];
  const shown = failed.slice(0, maxFailures);
  const rest = failed.slice(maxFailures);
  return [
    ...lineOf(others, depth),
    ...shown.map((entry): TreeLine => ({ depth, entry, which: whichOf(entry, group) })),
    ...lineOf(rest, depth),
    ...insideOf(group, false, depth + 1),
  ];
}

function whichOf(entry: TraceEntry, group: readonly TraceEntry[]): string {
  const [, item] = /\.(\d+)$/.exec(entry.scope) ?? [];
  return item === undefined ? `(${group.indexOf(entry) + 1})` : `(item ${item})`;
}

function lineOf(visits: TraceEntry[], depth: number): TreeLine[] {
  return visits.length > 0 ? [{ depth, visits }] : [];
}

function isFailure({ status }: TraceEntry): boolean {
  return status === "failed";
}

/** The lines of branches and child executions of an entry, or of all visits of a node. */
function insideOf(entries: readonly TraceEntry[], unfold: boolean, depth: number): TreeLine[] {
  const children = entries.flatMap(({ child }) => child ?? []);
  const branches = entries.flatMap((entry) => entry.branches ?? []);
  const [child, ...others] = children;
  if (child && others.length > 0)
    return [{ depth, title: `workflow ${child.workflow}: ${children.length} executions` }];
  if (child) {
    const title = `workflow ${child.workflow} version ${child.version}: ${child.execution_id}`;
    return [{ depth, title }, ...buildTree(child.entries ?? [], unfold, depth)];
  }
  const isMap = branches.some(({ branch }) => /^\d+$/.test(branch));
  if (isMap && !unfold && branches.length > maxUnfolded) return foldedItems(branches, depth);
  return Array.from(Map.groupBy(branches, ({ scope, branch }) => (isMap ? scope : branch)).values()).flatMap((same) => [
    { depth, title: isMap ? `item ${same[0]?.branch}${itemText(entries[0], same[0])}` : `branch ${same[0]?.branch}` },
    ...buildTree(
      same.flatMap((branch) => branch.entries),
      unfold,
      depth,
    ),
  ]);
}

/** With `--full`: the values of the item, which no entry's changes contain. */
function itemText(map: TraceEntry | undefined, item: TraceBranch | undefined): string {
  const [before, after] = [map?.output_result, item?.entries[0]?.input_context];
  if (!before || !after) return "";
  const known = new Set(membersOf(before.text).map(({ key, json }) => `${key}:${json}`));
  const given = membersOf(after.text).filter(({ key, json }) => key !== "index" && !known.has(`${key}:${json}`));
  return given.map(({ key, json }) => `, ${key} = ${shorten(json)}`).join("");
}

/** The progress of a map with many items, and one line for each node of its body. */
function foldedItems(branches: readonly TraceBranch[], depth: number): TreeLine[] {
  const ends = branches.flatMap(({ entries }) => entries.at(-1) ?? []).filter(({ path_taken }) => path_taken === null);
  const failed = ends.filter(isFailure).length;
  const done = ends.length === branches.length ? "" : `${ends.length}/`;
  const title = `${done}${branches.length} items${done && " done"}${failed > 0 ? `, ${failed} failed` : ""}`;
  const inside = branches.flatMap(({ entries }) => entries);
  const groups = Map.groupBy(inside, ({ node_id }) => node_id);
  return [{ depth, title }, ...Array.from(groups.values()).flatMap((group) => foldedLines(group, depth))];
}
