import type { Delivery, DeliveryStore } from "@nova/service";
import { LRUCache } from "lru-cache";

/** Something that came in and started no run. */
export type Unstarted = Delivery & { status: "refused" | "failed"; reason: string };

/** Deliveries that are being accepted, in case some are never finished. */
const remembered = 1_000;

/** The same store; `hear` is told of what starts no run, each time that it comes. */
export function heard(store: DeliveryStore, hear: (unstarted: Unstarted) => void): DeliveryStore {
  const accepted = new LRUCache<string, Delivery>({ max: remembered });
  const tell = (delivery: Delivery) => isUnstarted(delivery) && hear(delivery);
  return {
    list: (query) => store.list(query),
    async begin(delivery) {
      const there = await store.begin(delivery);
      if (delivery.status === "accepted") accepted.set(delivery.key, delivery);
      if (there?.status !== "started") tell(delivery);
      return there;
    },
    async finish(key, outcome) {
      await store.finish(key, outcome);
      const delivery = accepted.get(key);
      accepted.delete(key);
      if (delivery) tell({ ...delivery, ...outcome });
    },
  };
}

function isUnstarted(delivery: Delivery): delivery is Unstarted {
  return (delivery.status === "refused" || delivery.status === "failed") && delivery.reason !== null;
}
