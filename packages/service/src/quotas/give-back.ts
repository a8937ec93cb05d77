import type { Execution } from "@nova/engine";
import type { QueuePorts } from "./admit.ts";
import { fillPools } from "./fill.ts";

/** A run that has ended holds no slot and waits for none any more; the next ones begin. */
export async function giveSlotsBack(ports: QueuePorts, { id, pools }: Execution): Promise<void> {
  if (!pools || pools.length === 0) return;
  await ports.slots.leave({ execution: id, pools });
  for (const pool of pools) await ports.slots.giveBack(pool, id);
  await fillPools(ports, pools);
}
