import { type Execution, type OnExecutionEnded, type Ports, StoreUnavailable } from "@nova/engine";
import { bareStatsOf, statsOf } from "../analytics/figures.ts";
import type { RunHookStores } from "../ports/index.ts";
import { giveSlotsBack } from "../quotas/fill.ts";

export { createBudgets } from "../quotas/pools.ts";

type HookPorts = Ports & RunHookStores;
type Warn = (message: string, facts: Record<string, unknown>) => void;

/**
 * Builds a hook for ended runs. The hook stores the statistics of the run and its leaf for the next Merkle tree. Then
 * it starts the next queued run, even if it could not store the statistics and the leaf. It stores them first, because
 * the start can take seconds.
 */
export function createOnExecutionEnded(ports: HookPorts, warn: Warn): OnExecutionEnded {
  return async (execution) => {
    try {
      await Promise.all([putStats(ports, execution, warn), putLeaf(ports, execution)]);
    } finally {
      await giveSlotsBack(ports, execution);
    }
  };
}

/**
 * Stores the leaf of a run for the next Merkle tree. The record of the run is still open at this time, so a crash loses
 * no leaf.
 */
async function putLeaf({ leaves }: HookPorts, { id, tip, endedAt }: Execution): Promise<void> {
  if (tip === undefined || endedAt === undefined)
    throw new TypeError(`execution ${id} has not ended, and needs no leaf`);
  await leaves.put({ execution: id, hash: tip, closedAt: endedAt });
}

/**
 * Stores the statistics of a run. It throws only an outage, so that the caller tries again. Any other error would occur
 * at every retry, and the run would never close. After such an error, it warns, and tries once more without the
 * statistics of the nodes.
 */
async function putStats(ports: HookPorts, execution: Execution, warn: Warn): Promise<void> {
  const attempts = [() => statsOf(ports, execution), async () => bareStatsOf(execution)];
  for (const count of attempts) {
    try {
      return await ports.stats.put(await count());
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      warn("statistics of a run that cannot be stored", { execution: execution.id, error: String(error) });
    }
  }
}
