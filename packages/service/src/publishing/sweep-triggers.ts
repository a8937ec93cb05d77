import type { ServicePorts } from "../ports/index.ts";
import { handOver } from "./hand-over.ts";
import { handedOverAgain, isLost } from "./handed-over.ts";

/**
 * Has the triggers of workflows settled whose version was being changed when a process died: by whoever publishes, who
 * may. Where somebody is at it still, that is one more who does the same. Each waits longer after every time, so that
 * what cannot be settled for now keeps no publication waiting.
 */
export async function sweepTriggers(ports: ServicePorts): Promise<void> {
  for await (const { workflowId, touched, handedOver } of ports.workflowStates.unsettled()) {
    if (handedOver && !isLost(ports, handedOver)) continue;
    await ports.workflowStates.noteHandedOver(workflowId, handedOverAgain(ports, handedOver));
    await handOver(ports, { workflowId, version: Math.max(...touched) });
  }
}
