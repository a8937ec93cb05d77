import type { ServicePorts } from "../ports/index.ts";
import { handOver } from "./hand-over.ts";

/**
 * Has the triggers of workflows settled whose version was being changed when a process died: by whoever publishes, who
 * may. Where somebody is at it still, that is one more who does the same.
 */
export async function sweepTriggers(ports: ServicePorts): Promise<void> {
  for await (const { workflowId, touched } of ports.workflowStates.unsettled()) {
    await handOver(ports, { workflowId, version: Math.max(...touched) });
  }
}
