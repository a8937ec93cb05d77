import type { Endings, InFlight } from "../ports/process-memory.ts";

/** A run is in flight until the last of its deliveries is done: until then this process may store something for it. */
export function createInFlight(): InFlight {
  const deliveries = new Map<string, number>();
  const count = (execution: string, by: 1 | -1) => {
    const now = (deliveries.get(execution) ?? 0) + by;
    if (now > 0) deliveries.set(execution, now);
    else deliveries.delete(execution);
  };
  return {
    async during(execution, work) {
      count(execution, 1);
      try {
        return await work();
      } finally {
        count(execution, -1);
      }
    },
    get runs() {
      return [...deliveries.keys()];
    },
  };
}

export function createEndings(): Endings {
  const waiting = new Map<string, Set<() => void>>();
  return {
    tell(execution) {
      for (const wake of waiting.get(execution) ?? []) wake();
    },
    async wait(execution, longestMs) {
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
