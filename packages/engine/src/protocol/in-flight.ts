import type { InFlight } from "../ports/process-memory.ts";

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
