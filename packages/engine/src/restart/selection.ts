import type { Head } from "../chain/entry.ts";
import { branchScope } from "../chain/ids.ts";
import { type EntryInRun, entryKey, type Reads, Source, type SourceEntry } from "./source.ts";

export class RestartRefused extends Error {
  override name = "RestartRefused";
}

/** Selects the outcomes of a source that a new run reuses: those that do not depend on an entry that runs again. */
export interface ReuseSelection {
  /**
   * The nodes of these entries run again, and so do all nodes that depend on them. Absent: every node that failed and
   * has no `onError` runs again.
   */
  from?: readonly EntryInRun[];
  again?: readonly string[];
  /** Selections for inner executions of the source, by `entryKey` of the entry of the node that ran them. */
  inside?: Readonly<Record<string, ReuseSelection>>;
}

/**
 * Whether the outcome of an entry is reused. A failure that no `onError` handled is reused only if a map tolerates it
 * and the selection says which nodes run again.
 */
export function isReused({ from = [], again = [] }: ReuseSelection, { head, isTolerated }: SourceEntry): boolean {
  const isSettled = head.status === "success" || head.path_taken !== null;
  const isAsked = from.length > 0 || again.length > 0;
  return (
    (isSettled || (isAsked && isTolerated)) &&
    !again.includes(head.node_id) &&
    from.every((first) => isBefore(head, first))
  );
}

/**
 * Whether an entry does not depend on `other`, because it ran before `other`, or in another branch of the same fork.
 */
function isBefore(entry: EntryInRun, other: EntryInRun): boolean {
  const [own, others] = [stepsTo(entry), stepsTo(other)];
  const apart = own.findIndex((step, depth) => step.branch !== others[depth]?.branch);
  const depth = apart < 0 ? own.length - 1 : apart;
  const [mine, theirs] = [own[depth], others[depth]];
  if (!mine || !theirs) return true;
  // Either the entries are in different branches of the same fork, or this entry is the fork around the other entry.
  if (mine.seq === theirs.seq) return mine.branch !== theirs.branch && theirs.branch !== "";
  return mine.seq < theirs.seq;
}

/**
 * Lists the forks around an entry, outermost first, each with its entry number and the branch. The entry itself comes
 * last.
 */
function stepsTo({ scope, seq }: EntryInRun): { seq: number; branch: string }[] {
  const forks = Array.from(scope.matchAll(/\/([^/@]+)@(\d+)\.([^/.]+)/g), ([branch, , number]) => ({
    seq: Number(number),
    branch,
  }));
  return [...forks, { seq, branch: "" }];
}

/**
 * Builds the selection with which the nodes at these places, and all nodes that depend on them, run again. Throws
 * `RestartRefused` if the source has no such place.
 */
export async function selectEntriesBefore(
  ports: Reads,
  source: Source,
  places: readonly string[],
  execution: string,
): Promise<Pick<ReuseSelection, "from" | "inside">> {
  const inner = Map.groupBy(places, (place) => place.split("/")[0] ?? "");
  const from = new Map<string, EntryInRun>();
  const inside: Record<string, ReuseSelection> = {};
  for (const [name, all] of inner) {
    const { child, ...first } = findEntry(source, name, execution);
    const key = entryKey(first);
    from.set(key, first);
    // If a place names the workflow node itself, that node runs again as a whole, and places inside it do not matter.
    if (all.includes(name)) continue;
    const rest = all.map((place) => place.slice(name.length + 1));
    if (!child) throw noInside(name, rest);
    inside[key] = await selectEntriesBefore(ports, await Source.read(ports, child), rest, child);
  }
  if (from.size === 0) return {};
  return { from: [...from.values()], ...(Object.keys(inside).length > 0 && { inside }) };
}

/**
 * Finds the entry of a place without `/`, and the execution that the node of this entry ran. For an item, returns the
 * first entry of the item.
 */
function findEntry(source: Source, name: string, execution: string): EntryInRun & { child?: string | undefined } {
  const entry = source.entries.get(name);
  if (entry && isStep(entry.head.node_type)) {
    const { scope, seq, child } = entry.head;
    return { scope, seq, child: child?.execution };
  }
  const [, map = "", index = ""] = /^(.+)\[(0|[1-9]\d{0,8})\]$/.exec(name) ?? [];
  const fork = source.entries.get(map)?.head;
  if (fork?.count === undefined) throw neverCame(source, name, execution);
  if (Number(index) >= fork.count) throw noItem(map, fork.count, execution);
  return { scope: branchScope(fork, fork.node_id, index), seq: 1 };
}

function neverCame(source: Source, name: string, execution: string): RestartRefused {
  const known = [...source.entries.values()].flatMap(({ name, head }) => (isStep(head.node_type) ? [name] : []));
  return new RestartRefused(`execution ${execution} never came to "${name}" - it came to ${shortList(known)}`);
}

function noItem(map: string, count: number, execution: string): RestartRefused {
  const items = count === 0 ? "no items" : `${count} ${count === 1 ? "item" : "items"}: ${map}[0]`;
  const last = count > 1 ? ` to ${map}[${count - 1}]` : "";
  return new RestartRefused(
    `map "${map}" of execution ${execution} had ${items}${last} - name one of them, or the map`,
  );
}

function noInside(name: string, rest: readonly string[]): RestartRefused {
  const advice = name.endsWith("]") ? ` - write ${name}.${rest[0]} for a node of the item` : "";
  return new RestartRefused(`"${name}" ran no other workflow, so it has no "${rest[0]}" inside${advice}`);
}

/**
 * Whether entries of this type are outcomes of nodes that do work. Entries of a start, an end, a join or a close are
 * not.
 */
export function isStep(type: Head["node_type"]): boolean {
  return !["start", "end", "join", "close"].includes(type);
}

const maxListed = 20;

export function shortList(names: readonly string[]): string {
  if (names.length === 0) return "no node";
  const more = names.length > maxListed ? ` and ${names.length - maxListed} more` : "";
  return names.slice(0, maxListed).join(", ") + more;
}
