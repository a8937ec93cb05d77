import { type BranchTip, contentOrNull, type Head, headOf } from "../chain/entry.ts";
import { branchScope } from "../chain/ids.ts";
import { spentSince, unlessNothing } from "../chain/spending.ts";
import type { EntryId, Link, StoredEntry } from "../ports/chain.ts";
import type { Spending } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { fewestTogether, findOpenedFork, linksOfBranches, type OpenFork, opensFork } from "../protocol/branches.ts";

type Reads = Pick<Ports, "chain" | "workflows" | "blobs">;

/** The head of an entry, and the cost of models of its own node, without an execution that the node ran. */
export interface RunHead {
  head: Head;
  hash: string;
  spent?: Spending;
}

/** Heads of all entries of an execution, with branches after their fork. They suffice for counting. */
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
    // The spending of a join is the sum of its branches.
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

/** Branches whose entries are in memory at the same time. */
const maxInPart = 1000;

interface Part {
  part: OpenFork["branches"];
  /** Undefined if the branch must be read separately. */
  linksOf(scope: string): readonly Link[] | undefined;
}

/**
 * Yields a fork's branches with their entries, in parts if there are many. If the join says how far each branch came, a
 * hundred entries are read at once, otherwise a hundred turns and entries.
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

/** Returns whether a branch continues after the entry: its last entry names no next node. */
function goesOn({ entry }: Link): boolean {
  return entry !== undefined && headOf(entry).path_taken !== null;
}

/** The number of the last link of each branch, by scope, from the join of a fork; null if no join lists it. */
async function joinedTips(
  { chain, blobs }: Pick<Ports, "chain" | "blobs">,
  { execution_id: execution, scope, seq }: Head,
): Promise<ReadonlyMap<string, number> | null> {
  const { entry } = await chain.read({ execution, scope, seq: seq + 1 });
  const text = entry ? await contentOrNull({ blobs }, entry, headOf(entry), "branches") : null;
  return text !== null ? new Map((JSON.parse(text) as BranchTip[]).map(({ scope, seq }) => [scope, seq])) : null;
}

/** The scopes that an entry opens: items, or a child execution, which belongs to the source of a reused entry. */
export function furtherScopes(entry: StoredEntry): Omit<EntryId, "seq">[] {
  const head = headOf(entry);
  const items = Array.from({ length: head.count ?? 0 }, (_, index) => ({
    execution: head.execution_id,
    scope: branchScope(head, head.node_id, String(index)),
  }));
  return head.child && !head.reused_from ? [...items, { execution: head.child.execution, scope: "" }] : items;
}
