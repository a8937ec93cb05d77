import { contentOrNull } from "../chain/contents.ts";
import { type BranchTip, type Head, headOf } from "../chain/head.ts";
import { branchScope } from "../chain/scope.ts";
import { spentSince, unlessNothing } from "../chain/spending.ts";
import type { Link, LinkId, StoredEntry } from "../ports/chain.ts";
import type { Spending } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { fewestTogether, linksOfBranches } from "../protocol/branch-links.ts";
import { findOpenedFork, type OpenFork, opensFork } from "../protocol/branches.ts";

type Reads = Pick<Ports, "chain" | "workflows" | "blobs">;

/** An entry, and what its own node has paid models; absent: nothing. What an execution inside has paid is not its own. */
export interface RunHead {
  head: Head;
  /** Of the entry. */
  hash: string;
  spent?: Spending;
}

/** Heads of all entries of an execution, a fork's branches behind it: enough to count by. */
export function runHeads(ports: Reads, execution: string): AsyncIterable<RunHead> {
  return headsOfScope(ports, execution, "");
}

async function* headsOfScope(
  ports: Reads,
  execution: string,
  scope: string,
  fork?: Head,
  known?: readonly Link[],
): AsyncGenerator<RunHead> {
  let before = fork;
  for await (const { entry } of known ?? ports.chain.links(execution, scope)) {
    if (!entry) continue;
    const head = headOf(entry);
    // A join's spending is that of its branches.
    const paysItself = head.node_type !== "join" && head.child === undefined;
    const spent = before && paysItself ? unlessNothing(spentSince(before.spent, head.spent)) : undefined;
    yield { head, hash: entry.hash, ...(spent && { spent }) };
    before = head;
    if (opensFork(head)) yield* headsOfBranches(ports, execution, entry);
  }
}

async function* headsOfBranches(ports: Reads, execution: string, entry: StoredEntry): AsyncGenerator<RunHead> {
  const fork = await findOpenedFork(ports, entry);
  if (!fork) return;
  for await (const { part, linksOf } of branchParts(ports, fork)) {
    for (const { scope } of part) yield* headsOfScope(ports, execution, scope, fork.head, linksOf(scope));
  }
}

/** Branches whose entries are in memory at once. */
const maxInPart = 1000;

interface Part {
  part: OpenFork["branches"];
  /** Undefined where the branch has to be asked for. */
  linksOf(scope: string): readonly Link[] | undefined;
}

/**
 * A fork's branches with their entries, of many branches a part at a time. A hundred entries are read at once where the join
 * says how far each branch has come, and where there is no join yet a hundred turns and entries.
 */
export async function* branchParts(
  ports: Pick<Ports, "chain" | "blobs">,
  { head, branches }: OpenFork,
): AsyncIterable<Part> {
  if (branches.length < fewestTogether) return yield { part: branches, linksOf: () => undefined };
  const tips = await joinedTips(ports, head);
  for (let first = 0; first < branches.length; first += maxInPart) {
    const part = branches.slice(first, first + maxInPart);
    if (!tips) {
      const scopes = part.map(({ scope }) => scope);
      yield { part, linksOf: await linksOfBranches(ports, head.execution_id, scopes, goesOn) };
      continue;
    }
    const begun = part.map(({ scope }) => ({ scope, seq: tips.get(scope) ?? 0 }));
    const links = await ports.chain.entries(head.execution_id, begun);
    yield { part, linksOf: (scope) => links.get(scope) ?? [] };
  }
}

/** The entry at the end of a branch leads nowhere. */
function goesOn({ entry }: Link): boolean {
  return entry !== undefined && headOf(entry).path_taken !== null;
}

/** How far each branch has come by the join of a fork, by scope; null where there is no join that says it. */
async function joinedTips(
  { chain, blobs }: Pick<Ports, "chain" | "blobs">,
  { execution_id: execution, scope, seq }: Head,
): Promise<ReadonlyMap<string, number> | null> {
  const { entry } = await chain.read({ execution, scope, seq: seq + 1 });
  const text = entry ? await contentOrNull({ blobs }, entry, headOf(entry), "branches") : null;
  return text !== null ? new Map((JSON.parse(text) as BranchTip[]).map(({ scope, seq }) => [scope, seq])) : null;
}

/**
 * The items of a map and the execution of a workflow node: what an entry leads to, by its head alone. An execution that was
 * taken over belongs to the source.
 */
export function furtherScopes(entry: StoredEntry): Omit<LinkId, "seq">[] {
  const head = headOf(entry);
  const items = Array.from({ length: head.count ?? 0 }, (_, index) => ({
    execution: head.execution_id,
    scope: branchScope(head, head.node_id, String(index)),
  }));
  return head.child && !head.reused_from ? [...items, { execution: head.child.execution, scope: "" }] : items;
}
