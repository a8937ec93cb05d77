import { LRUCache } from "lru-cache";
import type { LinkId, StoredEntry } from "../ports/chain.ts";
import type { TailCache } from "../ports/process-memory.ts";

/** More would only be of runs that go on elsewhere. */
const maxKept = 64;
/** The node behind a link comes at once; one that comes later has probably been somewhere else before. */
const keptMs = 5_000;

/** The entry just written is what a read would find: nothing can lie behind it yet. */
export function createTailCache(): TailCache {
  const entries = new LRUCache<string, { entry: StoredEntry; until: number }>({ max: maxKept });
  return {
    keep(at, entry, nowMs) {
      entries.set(nameOf(at), { entry, until: nowMs + keptMs });
    },
    take(at, nowMs) {
      const kept = entries.get(nameOf(at));
      entries.delete(nameOf(at));
      return kept && nowMs < kept.until ? kept.entry : undefined;
    },
  };
}

function nameOf({ execution, scope, seq }: LinkId): string {
  return `${execution}${scope}#${seq}`;
}
