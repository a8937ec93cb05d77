import { LRUCache } from "lru-cache";
import { branchOf } from "./chain/ids.ts";
import type { EntryId, StoredEntry } from "./ports/chain.ts";
import type { Sandbox } from "./ports/sandboxes.ts";

/** Older entries belong to runs that are now in other processes. */
const maxKept = 64;
/** The next node usually comes at once. If it comes later, another process has probably run it before. */
const keptMs = 5_000;

/** The entries that this process wrote last, for the nodes after them: no other entry can follow such an entry yet. */
export type TailCache = ReturnType<typeof createTailCache>;

export function createTailCache() {
  const entries = new LRUCache<string, { entry: StoredEntry; until: number }>({ max: maxKept });
  const nameOf = ({ execution, scope, seq }: EntryId) => `${execution}${scope}#${seq}`;
  return {
    /** Call it only from the delivery whose put wrote the entry. */
    keep(at: EntryId, entry: StoredEntry, nowMs: number): void {
      entries.set(nameOf(at), { entry, until: nowMs + keptMs });
    },
    /** Works once: a second delivery of the node has to read the chain. */
    take(at: EntryId, nowMs: number): StoredEntry | undefined {
      const kept = entries.get(nameOf(at));
      entries.delete(nameOf(at));
      return kept && nowMs < kept.until ? kept.entry : undefined;
    },
  };
}

/**
 * Spare sandboxes of branches that have ended, for nodes of other branches of the same fork: a map of a thousand items
 * needs a handful. After the join the chain names the spare sandboxes.
 */
export type WarmPool = ReturnType<typeof createWarmPool>;

export function createWarmPool() {
  const idle = new Map<string, Sandbox[]>();
  return {
    /** Call it only from the delivery that wrote the scope's last entry: no code runs in the sandbox then. */
    offer(at: Pick<EntryId, "execution" | "scope">, sandbox: Sandbox): void {
      const [fork] = forksAround(at);
      if (fork === undefined) return;
      const others = (idle.get(fork) ?? []).filter(({ id }) => id !== sandbox.id);
      idle.set(fork, [...others, sandbox]);
    },
    /** Takes the sandbox that was used last: it lives longest. */
    take(at: Pick<EntryId, "execution" | "scope">): Sandbox | undefined {
      const fork = forksAround(at).find((name) => idle.has(name));
      if (fork === undefined) return undefined;
      const list = idle.get(fork);
      const sandbox = list?.pop();
      if (list?.length === 0) idle.delete(fork);
      return sandbox;
    },
    /** Removes sandboxes whose lifetime is over; other processes may have joined their forks. */
    forgetDead(nowMs: number): void {
      for (const [place, list] of idle) {
        const alive = list.filter(({ endsAt }) => Date.parse(endsAt) > nowMs);
        if (alive.length > 0) idle.set(place, alive);
        else idle.delete(place);
      }
    },
  };
}

/** Names of the fork that a scope is a branch of, and of those around it, innermost first. */
function forksAround({ execution, scope }: Pick<EntryId, "execution" | "scope">): string[] {
  const place = branchOf(scope);
  if (!place) return [];
  const { parent, fork, seq } = place;
  return [`${execution}${parent}/${fork}@${seq}`, ...forksAround({ execution, scope: parent })];
}

/** The runs whose nodes this process runs, until the last of their deliveries is done. */
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
    /** Ids of executions. */
    get runs(): string[] {
      return [...deliveries.keys()];
    },
  };
}

/** Ends of executions that this process has closed, for callers that wait here. */
export type Endings = ReturnType<typeof createEndings>;

export function createEndings() {
  const waiting = new Map<string, Set<() => void>>();
  return {
    tell(execution: string): void {
      for (const wake of waiting.get(execution) ?? []) wake();
    },
    /** Resolves at its end, or after this time where that is not told here. */
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
