import type { Aftermath, Ports } from "@nova/engine";
import { statsOf } from "../analytics/run-stats.ts";
import type { LookoutStores } from "../ports/index.ts";
import { giveSlotsBack } from "../quotas/give-back.ts";

/** Figures first: the next run of a queue may begin here, and takes its time. */
export function createAftermath(ports: Ports & LookoutStores): Aftermath {
  return {
    async ended(execution) {
      await ports.stats.put(await statsOf(ports, execution));
      await giveSlotsBack(ports, execution);
    },
  };
}
