import { forksOf, joinOf, nodeIndex, onErrorOf } from "@nova/workflow";
import { atOnce } from "../at-once.ts";
import { type FailureRecord, type Head, headOf } from "../chain/entry.ts";
import { branchScope } from "../chain/ids.ts";
import { branchStart, failureOf } from "../chain/position.ts";
import { chainBroken } from "../errors.ts";
import type { EntryId, Link, StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import { nextNodeId, type Reason } from "./definition.ts";

/** A fork whose entry is in the chain, with all of its branches, including those that have not started. */
export type OpenFork = NonNullable<Awaited<ReturnType<typeof findOpenedFork>>>;

export function opensFork(head: Head): boolean {
  return head.path_taken === joinOf(head.node_id);
}

export async function findOpenedFork(ports: Pick<Ports, "workflows">, entry: StoredEntry) {
  const head = headOf(entry);
  if (!opensFork(head)) return null;
  const version = await ports.workflows.get(head.workflow_id, head.workflow_version);
  const fork = version && forksOf(version.workflow).get(head.node_id);
  if (!fork) throw chainBroken(`link ${head.seq} of ${head.execution_id} opens a fork that its workflow does not have`);
  const node = nodeIndex(version.workflow).get(head.node_id)?.node;
  /** The map or agent, if each branch is an item or a call; null if each branch starts with an edge. */
  const map = node && "body" in node ? node : null;
  const names = map
    ? Array.from({ length: head.count ?? 0 }, (_, index) => String(index))
    : fork.branches.map((branch) => branch.entry);
  const branches = names.map((name) => ({ name, scope: branchScope(head, head.node_id, name) }));
  /** The `path_taken` of the last entry of a finished branch. */
  const end = map ? null : nextNodeId(version, fork.next);
  return { fork, version, map, entry, head, branches, end };
}

/**
 * Returns the id of the node after a join that succeeded. If several edges leave the map of the join, further branches
 * start there, and the result is the name of their join.
 */
export function nextAfterJoin({ fork, version }: Pick<OpenFork, "fork" | "version">): string | null {
  const join = joinOf(fork.node);
  return forksOf(version.workflow).has(join) ? joinOf(join) : nextNodeId(version, fork.next);
}

/**
 * The last entry of a scope, and the turn after it. For a branch that has not started, `entry` is the entry of its
 * fork.
 */
export interface Tip {
  link: Link;
  entry: StoredEntry;
  /**
   * The head (the hashed fields) of `entry`. For a branch that has not started, it is the head that an entry 0 of the
   * branch would have.
   */
  head: Head;
  next: EntryId;
  turn: Turn | undefined;
}

export function hasBegun({ head }: Tip): boolean {
  return head.scope === "" || head.seq > 0;
}

/**
 * Reads the newest entry of a scope, and the turn after it. `fork` is the entry of the fork if the scope is a branch.
 */
export async function readTip(ports: Ports, execution: string, scope: string, fork?: StoredEntry): Promise<Tip> {
  return tipIn(ports, { execution, scope }, await ports.chain.tip(execution, scope), fork);
}

export async function readTips(ports: Ports, { head, entry }: OpenFork, scopes: readonly string[]): Promise<Tip[]> {
  const { execution_id: execution } = head;
  if (scopes.length < fewestTogether) return atOnce(scopes, (scope) => readTip(ports, execution, scope, entry));
  const linksOf = await linksOfBranches(ports, execution, scopes, (link) => link.entry !== undefined);
  return atOnce(scopes, async (scope) => {
    const links = linksOf(scope);
    return links ? tipIn(ports, { execution, scope }, links, entry) : readTip(ports, execution, scope, entry);
  });
}

async function tipIn(
  ports: Ports,
  { execution, scope }: Omit<EntryId, "seq">,
  links: readonly Link[],
  fork: StoredEntry | undefined,
): Promise<Tip> {
  const last = links.filter(({ entry }) => entry).sort((a, b) => b.seq - a.seq)[0];
  const link = last ?? { seq: 0 };
  const next: EntryId = { execution, scope, seq: link.seq + 1 };
  const { turn } = links.find(({ seq }) => seq === next.seq) ?? {};
  if (last?.entry) return { link, entry: last.entry, head: headOf(last.entry), next, turn };
  if (!fork) throw chainBroken(`execution ${execution} has no chain`);
  const { before, beforeEntry } = await branchStart(ports, fork, scope);
  return { link, entry: beforeEntry, head: before, next, turn };
}

/**
 * `stopped`: a close, or the failure of another branch, has ended the branch. `under way`: the branch has not ended, or
 * has not started yet.
 */
export type BranchState = "done" | "failed" | "stopped" | "under way";

export function branchState({ version, end }: OpenFork, tip: Tip): BranchState {
  const { head } = tip;
  if (!hasBegun(tip) || head.path_taken !== (head.status === "failed" && !isCaught(version, head) ? null : end))
    return "under way";
  if (head.status === "success" || isCaught(version, head)) return "done";
  return head.error_class === "ExecutionClosed" ? "stopped" : "failed";
}

/** Whether a failed node has an `onError`. This is also true if the `onError` edge leads to the end of the branch. */
function isCaught({ workflow }: WorkflowVersion, { node_id, node_type }: Head): boolean {
  const node = nodeIndex(workflow).get(node_type === "join" ? node_id.replace(/\.join$/, "") : node_id)?.node;
  if (!node || (node_type === "join" && !("body" in node))) return false;
  return onErrorOf(node) !== undefined;
}

/**
 * Returns why the branches cannot be joined: the failure of the first failed branch. If no branch failed, this is the
 * reason why the branches were `stopped`. Null if they can be joined.
 */
export async function failureOfBranches(ports: Ports, open: OpenFork, tips: readonly Tip[], stopped: Reason) {
  const states = tips.map((tip) => branchState(open, tip));
  const failed = states.flatMap((state, i) => (state === "failed" ? [i] : []));
  const first = failed[0];
  if (first !== undefined && failed.length > toleratedFailures(open)) {
    const { head, entry } = tips[first] as Tip;
    const inner = await failureOf(entry, ports.blobs);
    const most = Math.floor(toleratedFailures(open));
    const count =
      open.map?.type === "map" && open.map.toleratedFailures
        ? ` (${failed.length} of ${open.branches.length} items failed, ${most} may)`
        : "";
    // In nested forks, the failure names the node in the innermost branch, and not a join.
    const branch = open.map ? `item ${first}` : `branch "${open.branches[first]?.name}"`;
    const node = inner.node ?? head.node_id;
    const within = inner.within === undefined ? branch : `${inner.within} of ${branch}`;
    const reason = nodeMessage(inner) + count;
    const failure = { message: `node "${node}" in ${within}: ${reason}`, node, within, reason };
    return { class: head.error_class ?? "NodeFailed", failure };
  }
  const isOver = states.every((state) => state === "done" || state === "failed");
  return isOver ? null : { class: stopped.class, failure: { message: stopped.message } };
}

/**
 * Returns how many branches may fail. All calls of an agent may fail, because the model of the agent gets their errors.
 */
function toleratedFailures({ map, branches }: OpenFork): number {
  if (map?.type === "agent") return Number.POSITIVE_INFINITY;
  const tolerated = map?.toleratedFailures;
  if (!tolerated) return 0;
  return "count" in tolerated ? tolerated.count : (tolerated.percent * branches.length) / 100;
}

/** Returns the message of the failed node itself, without the names of node and branch. */
export function nodeMessage({ message, reason = message }: FailureRecord): string {
  return reason;
}

/**
 * The smallest number of branches that NOVA reads together. It reads fewer branches one by one, which costs the same.
 */
export const fewestTogether = 50;

/**
 * Reads many branches together: the first entry of each, then the second entry of each, and so on. Reads each branch up
 * to the first entry for which `goesOn` returns false. Stops when only a few long branches are left. The returned
 * function returns undefined for these long branches.
 */
export async function linksOfBranches(
  { chain }: Pick<Ports, "chain">,
  execution: string,
  scopes: readonly string[],
  goesOn: (link: Link) => boolean,
): Promise<(scope: string) => readonly Link[] | undefined> {
  const links = new Map<string, Link[]>(scopes.map((scope) => [scope, []]));
  let open = scopes;
  for (let seq = 1; open.length >= fewestTogether; seq++) {
    const places = open.map((scope) => ({ scope, seq }));
    const found = await chain.linksAt(execution, places);
    for (const [scope, link] of found) links.get(scope)?.push(link);
    open = open.filter((scope) => {
      const link = found.get(scope);
      return link !== undefined && goesOn(link);
    });
  }
  const long = new Set(open);
  return (scope) => (long.has(scope) ? undefined : (links.get(scope) ?? []));
}
