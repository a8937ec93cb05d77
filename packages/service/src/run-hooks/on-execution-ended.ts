import type { OnExecutionEnded, Ports } from "@nova/engine";
import { statsOf } from "../analytics/run-stats.ts";
import type { RunHookStores } from "../ports/index.ts";
import { giveSlotsBack } from "../quotas/fill.ts";

/**
 * Updates the statistics first. Starting the next queued run can take seconds, and must happen even if the statistics
 * fail.
 */
export function createOnExecutionEnded(ports: Ports & RunHookStores): OnExecutionEnded {
  return async (execution) => {
    try {
      await ports.stats.put(await statsOf(ports, execution));
    } finally {
      await giveSlotsBack(ports, execution);
    }
  };
}
