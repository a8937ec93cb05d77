import { type Fork, forksOf, joinOf, type MapNode, nodeIndex } from "@nova/workflow";
import { type Head, headOf } from "../chain/head.ts";
import { branchStart } from "../chain/position.ts";
import { branchScope } from "../chain/scope.ts";
import { chainBroken } from "../errors.ts";
import type { Link, LinkId, StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";
import { wayTo } from "./definition.ts";

/** A fork whose link is in the chain: what may have begun in its branches, begun or not. */
export interface OpenFork {
  fork: Fork;
  version: WorkflowVersion;
  /** Where the branches are items: their map. */
  map: MapNode | null;
  entry: StoredEntry;
  head: Head;
  /** In the order of the edges, or of the items. */
  branches: { name: string; scope: string }[];
  /** What the last entry of a finished branch says comes next. */
  end: string | null;
}

/** Whether several ways begin behind this link. */
export function opensFork(head: Head): boolean {
  return head.path_taken === joinOf(head.node_id);
}

/** The fork that an entry of its scope opens; null where it opens none. */
export async function forkBehind(ports: Pick<Ports, "workflows">, entry: StoredEntry): Promise<OpenFork | null> {
  const head = headOf(entry);
  if (!opensFork(head)) return null;
  const version = await ports.workflows.get(head.workflow_id, head.workflow_version);
  const fork = version && forksOf(version.workflow).get(head.node_id);
  if (!fork) throw chainBroken(`link ${head.seq} of ${head.execution_id} opens a fork that its workflow does not have`);
  const node = nodeIndex(version.workflow).get(head.node_id)?.node;
  const map = fork.kind === "map" && node?.type === "map" ? node : null;
  const names = map
    ? Array.from({ length: head.count ?? 0 }, (_, index) => String(index))
    : fork.branches.map((branch) => branch.entry);
  const branches = names.map((name) => ({ name, scope: branchScope(head, head.node_id, name) }));
  return { fork, version, map, entry, head, branches, end: map ? null : wayTo(version, fork.next) };
}

/** What follows a join that succeeded: the next node, or where a map has several edges out, their join. */
export function wayBehindJoin({ fork, version }: Pick<OpenFork, "fork" | "version">): string | null {
  const join = joinOf(fork.node);
  return forksOf(version.workflow).has(join) ? joinOf(join) : wayTo(version, fork.next);
}

/** The last entry of a scope, and the turn behind it. In a branch that has not begun the entry is the fork's. */
export interface Tip {
  link: Link;
  entry: StoredEntry;
  /** Of a branch that has not begun what its link 0 would say. */
  head: Head;
  /** The link behind the tip, and the turn that lies there. */
  next: LinkId;
  turn: Turn | undefined;
}

export function hasBegun({ head }: Tip): boolean {
  return head.scope === "" || head.seq > 0;
}

/** `fork`: the entry of the fork where the scope is a branch. */
export async function readTip(ports: Ports, execution: string, scope: string, fork?: StoredEntry): Promise<Tip> {
  const links = await ports.chain.tip(execution, scope);
  const last = links.filter(({ entry }) => entry).sort((a, b) => b.seq - a.seq)[0];
  const link = last ?? { seq: 0 };
  const next: LinkId = { execution, scope, seq: link.seq + 1 };
  const { turn } = links.find(({ seq }) => seq === next.seq) ?? {};
  if (last?.entry) return { link, entry: last.entry, head: headOf(last.entry), next, turn };
  if (!fork) throw chainBroken(`execution ${execution} has no chain`);
  const { before, beforeEntry } = await branchStart(ports, fork, scope);
  return { link, entry: beforeEntry, head: before, next, turn };
}
