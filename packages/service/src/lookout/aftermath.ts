import type { Aftermath, Ports } from "@nova/engine";
import { statsOf } from "../analytics/run-stats.ts";
import type { LookoutStores } from "../ports/index.ts";
import { giveSlotsBack } from "../quotas/give-back.ts";

/** Figures first: the next run of a queue may begin here, and takes its time. It does so whatever became of the figures. */
export function createAftermath(ports: Ports & LookoutStores): Aftermath {
  return {
    async ended(execution) {
      try {
        await ports.stats.put(await statsOf(ports, execution));
      } finally {
        await giveSlotsBack(ports, execution);
      }
    },
  };
}
