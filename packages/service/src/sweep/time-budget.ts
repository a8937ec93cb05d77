import type { TimeBudget } from "@nova/engine";

/** The time of whoever sweeps. */
export interface SweepTime {
  /** Ends everything. */
  signal?: AbortSignal;
  /** Milliseconds that are left; absent: as long as it takes. */
  leftMs?(): number;
}

/** At most half of the time that is left, so that every part behind has its turn; what it does not use is theirs. */
export function timeBudgetWithin({ signal, leftMs }: SweepTime): TimeBudget {
  const keptMs = leftMs && leftMs() / 2;
  return {
    get aborted() {
      return signal?.aborted === true || (leftMs !== undefined && leftMs() <= Number(keptMs));
    },
  };
}
