import type { Delivery, DeliveryStore } from "@nova/service";
import { LRUCache } from "lru-cache";

/** A delivery that started no run. */
export type Unstarted = Delivery & { status: "refused" | "failed"; reason: string };

/** The number of accepted deliveries that are remembered, in case some never finish. */
const remembered = 1_000;

/** Wraps the store: `observe` receives each delivery that starts no run. */
export function observeDeliveries(store: DeliveryStore, observe: (unstarted: Unstarted) => void): DeliveryStore {
  const accepted = new LRUCache<string, Delivery>({ max: remembered });
  const report = (delivery: Delivery) => isUnstarted(delivery) && observe(delivery);
  return {
    list: (query) => store.list(query),
    async begin(delivery) {
      const existing = await store.begin(delivery);
      if (delivery.status === "accepted") accepted.set(delivery.key, delivery);
      if (existing?.status !== "started") report(delivery);
      return existing;
    },
    async finish(key, outcome) {
      await store.finish(key, outcome);
      const delivery = accepted.get(key);
      accepted.delete(key);
      if (delivery) report({ ...delivery, ...outcome });
    },
  };
}

function isUnstarted(delivery: Delivery): delivery is Unstarted {
  return (delivery.status === "refused" || delivery.status === "failed") && delivery.reason !== null;
}
