import { renderJson } from "@nova/workflow";
import { LRUCache } from "lru-cache";
import { atOnce } from "../at-once.ts";
import { type BranchTip, contentOrNull, type Head, headOf } from "../chain/entry.ts";
import { branchScope } from "../chain/ids.ts";
import { spentSince, unlessNothing } from "../chain/spending.ts";
import type { EntryId, Link, StoredEntry } from "../ports/chain.ts";
import type { Execution, Spending } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { fewestTogether, findOpenedFork, linksOfBranches, type OpenFork, opensFork } from "../protocol/branches.ts";

type Reads = Pick<Ports, "chain" | "workflows" | "blobs">;

/** The hashed fields of an entry, and the cost of models for its node. `spent` does not include a child execution. */
export interface RunHead {
  head: Head;
  hash: string;
  spent?: Spending;
}

/**
 * Yields the hashed fields of all entries of an execution. The entries of branches come after the entry of their fork.
 * This function reads no contents of entries, because its callers need only hashed fields.
 */
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
    // The entry of a join contains the costs of its branches. The entry of a node that ran a child contains the costs
    // of the child. Both kinds of entries have no cost of their own.
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

/** The largest number of branches whose entries are in memory at the same time. */
const maxInPart = 1000;

/**
 * Yields the branches of a fork in parts of at most `maxInPart` branches. `linksOf` returns the turns and entries of a
 * branch; undefined if the caller must read that branch itself. If a join lists the last entry of each branch, this
 * function reads only entries. Otherwise it also reads turns, which needs more requests.
 */
export async function* branchParts(ports: Pick<Ports, "chain" | "blobs">, { head, branches }: OpenFork) {
  if (branches.length < fewestTogether) {
    yield { part: branches, linksOf: () => undefined };
    return;
  }
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
    yield { part, linksOf: (scope: string) => links.get(scope) ?? [] };
  }
}

/**
 * Reads the branches of a fork. `read` also gets the turns and entries of a branch if this function has read them
 * together with those of other branches. Takes ended branches from `ended`, and adds newly ended branches to `ended`.
 */
export async function readBranches<T extends Pick<Head, "path_taken">>(
  ports: Pick<Ports, "chain" | "blobs">,
  open: OpenFork,
  read: (scope: string, known?: readonly Link[]) => Promise<T[]>,
  ended: EndedBranches<T>,
): Promise<{ branch: string; scope: string; entries: T[] }[]> {
  const found = new Map<string, T[]>();
  const unread = open.branches.filter(({ scope }) => {
    const known = ended.get(scope);
    if (known) found.set(scope, known);
    return !known;
  });
  for await (const { part, linksOf } of branchParts(ports, { ...open, branches: unread })) {
    await atOnce(part, async ({ scope }) => {
      const entries = await read(scope, linksOf(scope));
      if (entries.at(-1)?.path_taken === null) ended.set(scope, entries);
      found.set(scope, entries);
    });
  }
  return open.branches.map(({ name, scope }) => ({ branch: name, scope, entries: found.get(scope) ?? [] }));
}

/** Holds the entries of the ended branches of one run, by scope. */
export interface EndedBranches<T> {
  get(scope: string): T[] | undefined;
  set(scope: string, entries: T[]): void;
}

/** Remembers no branches. */
export const noEndedBranches: EndedBranches<never> = { get: () => undefined, set: () => undefined };

const maxRememberedBytes = 32 << 20;
const rememberedMs = 5 * 60_000;

/**
 * Remembers the entries of ended branches. These entries never change, so the next read of the run reads only the other
 * branches. `hasContents`: the entries have contents, which NOVA may erase when a run is no longer open. For such
 * entries, this function remembers only those of open runs.
 */
export function createEndedBranches<T>({ hasContents }: { hasContents: boolean }) {
  const stores = new WeakMap<Ports["chain"], LRUCache<string, T[]>>();
  return {
    /** Returns the ended branches of a run that exists. */
    of({ chain }: Pick<Ports, "chain">, { id, open }: Pick<Execution, "id" | "open">): EndedBranches<T> {
      if (hasContents && !open) return noEndedBranches;
      const sizeCalculation = (entries: T[]) => renderJson(entries).length;
      const limits = { maxSize: maxRememberedBytes, ttl: rememberedMs, updateAgeOnGet: true };
      const all = stores.get(chain) ?? new LRUCache<string, T[]>({ ...limits, sizeCalculation });
      stores.set(chain, all);
      return {
        get: (scope) => all.get(`${id} ${scope}`),
        set: (scope, entries) => void all.set(`${id} ${scope}`, entries),
      };
    },
  };
}

/** Returns whether a branch continues after this entry, because the entry names a next node. */
function goesOn({ entry }: Link): boolean {
  return entry !== undefined && headOf(entry).path_taken !== null;
}

/**
 * Reads the number of the last entry of each branch, by scope, from the join of a fork. Returns null if there is no
 * join, or if the list in the join was erased.
 */
async function joinedTips(ports: Pick<Ports, "chain" | "blobs">, { execution_id: execution, scope, seq }: Head) {
  const { entry } = await ports.chain.read({ execution, scope, seq: seq + 1 });
  const text = entry ? await contentOrNull(ports, entry, headOf(entry), "branches") : null;
  return text !== null ? new Map((JSON.parse(text) as BranchTip[]).map(({ scope, seq }) => [scope, seq])) : null;
}

/**
 * Returns the scopes that an entry opens: the items of a map, or a child execution. Leaves out the child of a reused
 * entry, because this child belongs to another run.
 */
export function furtherScopes(entry: StoredEntry): Omit<EntryId, "seq">[] {
  const head = headOf(entry);
  const items = Array.from({ length: head.count ?? 0 }, (_, index) => ({
    execution: head.execution_id,
    scope: branchScope(head, head.node_id, String(index)),
  }));
  return head.child && !head.reused_from ? [...items, { execution: head.child.execution, scope: "" }] : items;
}
