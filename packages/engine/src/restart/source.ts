import { LRUCache } from "lru-cache";
import { type Head, headOf, unlessErased } from "../chain/entry.ts";
import { branchOf, isItem } from "../chain/ids.ts";
import type { WrittenOutcome } from "../chain/outcomes.ts";
import { failureOf, readChanges } from "../chain/position.ts";
import type { ChainStore, EntryId, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { nameVisit } from "../protocol/recorded.ts";
import { type RunHead, runHeads } from "../trace/run-heads.ts";

/** One entry of the source, with the name of its place. */
export interface SourceEntry extends RunHead {
  /** The name of the place: `find`, `poll#2` (second visit of `poll`), `each[3].find` (in item 3 of `each`). */
  name: string;
  /** True if the node failed without an `onError`, but its map tolerates the failure, so that the run continued. */
  isTolerated: boolean;
}

export type Reads = Pick<Ports, "chain" | "workflows" | "blobs">;

export type EntryInRun = Omit<EntryId, "execution">;

/** An execution that has ended, with all its entries. Another execution reuses outcomes of this source. */
export class Source {
  /** The entries by name, in the order in which they ran. The branches of a fork follow the fork. */
  readonly entries: ReadonlyMap<string, SourceEntry>;
  readonly #scopes: ReadonlyMap<string, SourceEntry[]>;

  private constructor(entries: readonly SourceEntry[]) {
    this.entries = new Map(entries.map((entry) => [entry.name, entry]));
    this.#scopes = Map.groupBy(entries, ({ head }) => head.scope);
  }

  static async read(ports: Reads, execution: string): Promise<Source> {
    const names = new Names();
    const found: RunHead[] = await Array.fromAsync(runHeads(ports, execution));
    const heads = new Map(found.map(({ head }) => [entryKey(head), head]));
    const entries = found.map(
      (one): SourceEntry => ({ ...one, name: names.of(one.head), isTolerated: isTolerated(one.head, heads) }),
    );
    return new Source(entries);
  }

  /** Returns the names of the branches that begin at an entry, because the entry opens a fork. */
  branches({ scope, seq }: EntryInRun): string[] {
    const all = Array.from(this.#scopes.keys(), branchOf);
    return all.flatMap((branch) => (branch?.parent === scope && branch.seq === seq ? [branch.branch] : []));
  }

  scope(scope: string): readonly SourceEntry[] {
    return this.#scopes.get(scope) ?? [];
  }

  /** The last entry of the main line. Undefined if the execution no longer exists. */
  get last(): SourceEntry | undefined {
    return this.scope("").at(-1);
  }
}

/**
 * Whether this entry is a failure that a map around it tolerates. Such a failure ends an item, or a branch inside an
 * item.
 */
function isTolerated({ scope, status, path_taken }: Head, heads: ReadonlyMap<string, Head>): boolean {
  const fork = branchOf(scope);
  if (!fork || status === "success" || path_taken !== null) return false;
  const join = heads.get(entryKey({ scope: fork.parent, seq: fork.seq + 1 }));
  return join !== undefined && (join.status === "success" || isTolerated(join, heads));
}

/**
 * Names the places of entries. Callers must pass the entries in the order of the run, and the entries of branches after
 * the entry of their fork.
 */
export class Names {
  readonly #prefixes = new Map([["", ""]]);
  readonly #visits = new Map<string, number>();

  of({ scope, seq, node_id }: Pick<Head, "scope" | "seq" | "node_id">): string {
    const prefix = this.#prefixOf(scope);
    const visit = (this.#visits.get(prefix + node_id) ?? 0) + 1;
    this.#visits.set(prefix + node_id, visit);
    const name = prefix + nameVisit(node_id, visit);
    this.#prefixes.set(entryKey({ scope, seq }), name);
    return name;
  }

  /**
   * Returns the prefix of the places of a scope. A branch has the same prefix as its fork. An item adds its map and its
   * number to that prefix.
   */
  #prefixOf(scope: string): string {
    const known = this.#prefixes.get(scope);
    if (known !== undefined) return known;
    const branch = branchOf(scope);
    if (!branch) return "";
    const prefix = isItem(branch.branch)
      ? `${this.#prefixes.get(entryKey({ scope: branch.parent, seq: branch.seq })) ?? ""}[${branch.branch}].`
      : this.#prefixOf(branch.parent);
    this.#prefixes.set(scope, prefix);
    return prefix;
  }
}

export function entryKey({ scope, seq }: EntryInRun): string {
  return `${scope}#${seq}`;
}

/**
 * The outcome of one entry. Large values are references to blobs of the entry's execution. Restarts of that execution
 * share these blobs.
 */
export type OutcomeAt = Pick<WrittenOutcome, "set" | "delete" | "decision" | "error">;

/**
 * The largest number of outcomes in the cache. NOVA caches them, because every run of a session reads the same
 * outcomes. The cache does not notice an erasure, so callers must first check that the contents were not erased.
 */
const maxKept = 2_000;
type Outcomes = Pick<Ports, "chain" | "blobs">;
const kept = new WeakMap<ChainStore, LRUCache<string, OutcomeAt>>();

/** Reads the outcome of an entry. Returns undefined if the entry no longer exists, or if its contents were erased. */
export async function readOutcomeAt(ports: Outcomes, at: EntryId): Promise<OutcomeAt | undefined> {
  const known = kept.get(ports.chain) ?? new LRUCache<string, OutcomeAt>({ max: maxKept });
  kept.set(ports.chain, known);
  const name = `${at.execution}${at.scope}#${at.seq}`;
  const there = known.get(name);
  if (there) return there;
  const { entry } = await ports.chain.read(at);
  const outcome = entry && (await outcomeOf(ports, entry));
  if (outcome) known.set(name, outcome);
  return outcome;
}

async function outcomeOf(ports: Outcomes, entry: StoredEntry): Promise<OutcomeAt | undefined> {
  const { status, decision_result: decision, error_class } = headOf(entry);
  if (status === "failed") {
    const failure = await failureOf(entry, ports.blobs);
    return error_class && { set: [], delete: [], decision, error: { class: error_class, failure } };
  }
  const changes = "context" in entry.contents ? await unlessErased(() => readChanges(entry, ports.blobs)) : null;
  return changes ? { ...changes, decision } : undefined;
}
