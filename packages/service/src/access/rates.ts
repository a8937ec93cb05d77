import { recoverFrom, StoreUnavailable } from "@nova/engine";
import { LRUCache } from "lru-cache";
import { TooMany } from "../errors.ts";
import type { Principal, RateStore, Rates, ServicePorts } from "../ports/index.ts";

const windowSeconds = 10;
/**
 * Fraction of the limit that a process allows without asking the table. After that, the process reserves the same
 * fraction in the table each time.
 */
const share = 0.05;
/** Maximum number of keys whose counts a process keeps. A dropped key starts again with its free requests. */
const maxRemembered = 10_000;

interface Count {
  beginsAt: number;
  /** Requests that this process still allows without asking the table. */
  free: number;
  /** Requests that this process has reserved in the table and not used yet. */
  left: number;
  isSpent: boolean;
  asking: Promise<void> | undefined;
}

/**
 * Allows at most `limit` requests of a key in each ten seconds, over all processes. A Lambda of the API answers one
 * request at a time, so most processes see few requests of a key. Each process allows the first 5 % of the limit
 * without asking the table. If a process gets more requests, it reserves 5 % of the limit at a time in the table. API
 * Gateway's HTTP APIs cannot limit by key; their throttle bounds the free requests of many processes.
 */
export function createRates(
  { rateStore, clock }: Pick<ServicePorts, "clock"> & { rateStore: RateStore },
  limit: number,
): Rates {
  const counts = new LRUCache<string, Count>({ max: maxRemembered });
  const part = Math.max(1, Math.floor(limit * share));
  return {
    async take(by) {
      const now = clock.now();
      const beginsAt = now - (now % (windowSeconds * 1000));
      const count = countOf(counts, by.id, beginsAt);
      if (count.free++ < part) return;
      while (count.left === 0) {
        const leftMs = beginsAt + windowSeconds * 1000 - now;
        if (count.isSpent) throw new TooMany(limit, windowSeconds, Math.max(1, Math.ceil(leftMs / 1000)));
        // Concurrent requests share one reservation: only the first of them asks the table.
        count.asking ??= ask(count, by);
        await count.asking;
      }
      count.left--;
    },
  };

  async function ask(count: Count, by: Pick<Principal, "id" | "client">): Promise<void> {
    const window = { beginsAt: count.beginsAt, seconds: windowSeconds };
    // An outage of the table must not reject requests.
    const mayHave = await rateStore.add(by, window, part, limit).catch(recoverFrom(StoreUnavailable, () => true));
    if (mayHave) count.left += part;
    else count.isSpent = true;
    count.asking = undefined;
  }
}

function countOf(counts: LRUCache<string, Count>, principal: string, beginsAt: number): Count {
  const known = counts.get(principal);
  if (known?.beginsAt === beginsAt) return known;
  const count: Count = { beginsAt, free: 0, left: 0, isSpent: false, asking: undefined };
  counts.set(principal, count);
  return count;
}
