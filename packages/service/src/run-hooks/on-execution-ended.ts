import type { OnExecutionEnded, Ports } from "@nova/engine";
import { statsOf } from "../analytics/run-stats.ts";
import type { RunHookStores } from "../ports/index.ts";
import { giveSlotsBack } from "../quotas/fill.ts";

/** Statistics first: the next queued run can take seconds to start, and does so even if they fail. */
export function createOnExecutionEnded(ports: Ports & RunHookStores): OnExecutionEnded {
  return async (execution) => {
    try {
      await ports.stats.put(await statsOf(ports, execution));
    } finally {
      await giveSlotsBack(ports, execution);
    }
  };
}
