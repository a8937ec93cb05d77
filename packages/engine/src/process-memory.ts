import { LRUCache } from "lru-cache";
import { branchOf } from "./chain/ids.ts";
import type { EntryId, StoredEntry } from "./ports/chain.ts";
import type { Sandbox } from "./ports/sandboxes.ts";

/** The number of remembered entries. Runs with older entries probably continue in other processes. */
const maxKept = 64;
/**
 * How long an entry is remembered. The next node usually starts at once. If this process does not run it within this
 * time, another process has probably run it.
 */
const keptMs = 5_000;
/**
 * For this time after code has ended in a sandbox, the sandbox surely lives, so the next code starts there without a
 * check.
 */
const freshMs = 5_000;
/** The number of sandboxes of which this process remembers when it used them. */
const maxUsed = 1_000;

/** Remembers entries that this process has just written, so that the next node of their scope need not read them. */
export type TailCache = ReturnType<typeof createTailCache>;

export function createTailCache() {
  const entries = new LRUCache<string, { entry: StoredEntry; until: number }>({ max: maxKept });
  const nameOf = ({ execution, scope, seq }: EntryId) => `${execution}${scope}#${seq}`;
  return {
    /** Remembers an entry. Call it only from the delivery that wrote this entry. */
    keep(at: EntryId, entry: StoredEntry, nowMs: number): void {
      entries.set(nameOf(at), { entry, until: nowMs + keptMs });
    },
    /** Returns the entry and forgets it, so that a second delivery of the next node reads the chain. */
    take(at: EntryId, nowMs: number): StoredEntry | undefined {
      const kept = entries.get(nameOf(at));
      entries.delete(nameOf(at));
      return kept && nowMs < kept.until ? kept.entry : undefined;
    },
  };
}

/**
 * Keeps the sandboxes of ended branches for other branches of the same fork, so that a map of a thousand items needs
 * only a few. After the join, entries of the chain name the spare sandboxes.
 */
export type WarmPool = ReturnType<typeof createWarmPool>;

export function createWarmPool() {
  const idle = new Map<string, Sandbox[]>();
  const usedAt = new LRUCache<string, number>({ max: maxUsed });
  const keepOnly = (isKept: (sandbox: Sandbox) => boolean) => {
    for (const [place, list] of idle) {
      const kept = list.filter(isKept);
      if (kept.length > 0) idle.set(place, kept);
      else idle.delete(place);
    }
  };
  return {
    /**
     * Adds the sandbox of an ended branch. Call it only from the delivery that wrote the branch's last entry, because
     * then no code runs in the sandbox.
     */
    offer(at: Pick<EntryId, "execution" | "scope">, sandbox: Sandbox): void {
      const [fork] = forksAround(at);
      if (fork === undefined) return;
      const others = (idle.get(fork) ?? []).filter(({ id }) => id !== sandbox.id);
      idle.set(fork, [...others, sandbox]);
    },
    /** Returns the sandbox that was added last, which has the longest remaining life, and removes it. */
    take(at: Pick<EntryId, "execution" | "scope">): Sandbox | undefined {
      const fork = forksAround(at).find((name) => idle.has(name));
      if (fork === undefined) return undefined;
      const list = idle.get(fork);
      const sandbox = list?.pop();
      if (list?.length === 0) idle.delete(fork);
      if (sandbox) usedAt.delete(sandbox.id);
      return sandbox;
    },
    /** Remembers that code of this process has just ended in the sandbox, so that the sandbox lives. */
    noteUse({ id }: Sandbox, nowMs: number): void {
      usedAt.set(id, nowMs);
    },
    /**
     * Returns whether code of this process ended in the sandbox a moment ago. This function then forgets that moment,
     * because the sandbox may end while the next code runs.
     */
    takeFresh({ id }: Sandbox, nowMs: number): boolean {
      const at = usedAt.get(id);
      usedAt.delete(id);
      return at !== undefined && nowMs - at < freshMs;
    },
    /** Forgets sandboxes that are killed. */
    forget(ids: readonly string[]): void {
      for (const id of ids) usedAt.delete(id);
      keepOnly(({ id }) => !ids.includes(id));
    },
    /**
     * Forgets the sandboxes of a joined fork, because the entry of the join names them. `at` is one of the branches of
     * the fork.
     */
    forgetFork(at: Pick<EntryId, "execution" | "scope">): void {
      const [fork] = forksAround(at);
      if (fork !== undefined) idle.delete(fork);
    },
    /**
     * Removes sandboxes whose lifetime is over. If another process has joined a fork, the sandboxes of that fork stay
     * in this pool until their lifetime is over.
     */
    forgetDead(nowMs: number): void {
      keepOnly(({ endsAt }) => Date.parse(endsAt) > nowMs);
    },
  };
}

/**
 * Returns names of all forks that enclose a scope, innermost first. The first one is the fork that opened the scope.
 */
function forksAround({ execution, scope }: Pick<EntryId, "execution" | "scope">): string[] {
  const place = branchOf(scope);
  if (!place) return [];
  const { parent, fork, seq } = place;
  return [`${execution}${parent}/${fork}@${seq}`, ...forksAround({ execution, scope: parent })];
}

/** Counts the deliveries that this process handles, by run. */
export type InFlight = ReturnType<typeof createInFlight>;

export function createInFlight() {
  const deliveries = new Map<string, number>();
  const count = (execution: string, by: 1 | -1) => {
    const now = (deliveries.get(execution) ?? 0) + by;
    if (now > 0) deliveries.set(execution, now);
    else deliveries.delete(execution);
  };
  return {
    async during<T>(execution: string, work: () => Promise<T>): Promise<T> {
      count(execution, 1);
      try {
        return await work();
      } finally {
        count(execution, -1);
      }
    },
    /** Returns the ids of the executions that have a delivery in this process now. */
    get runs(): string[] {
      return [...deliveries.keys()];
    },
  };
}

/** Tells callers in this process that an execution has ended, if this process has closed it. */
export type Endings = ReturnType<typeof createEndings>;

export function createEndings() {
  const waiting = new Map<string, Set<() => void>>();
  return {
    tell(execution: string): void {
      for (const wake of waiting.get(execution) ?? []) wake();
    },
    /** Resolves when `tell` reports the end of the execution, or after `longestMs`. */
    async wait(execution: string, longestMs: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const others = waiting.get(execution) ?? new Set();
      waiting.set(execution, others.add(resolve));
      const timer = setTimeout(resolve, longestMs);
      await promise;
      clearTimeout(timer);
      others.delete(resolve);
      if (others.size === 0) waiting.delete(execution);
    },
  };
}
