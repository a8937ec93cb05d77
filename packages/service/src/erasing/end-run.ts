import { cancelExecution } from "@nova/engine";
import type { ServicePorts } from "../ports/index.ts";

/** Cancels a run that is open still, and what runs inside of it: without its contents nothing could close it any more. */
export async function endRun(ports: ServicePorts, id: string): Promise<void> {
  // The record itself, since the lists of what is open, and of a client, may be late.
  const record = await ports.executions.get(id);
  if (record?.open) await cancelExecution(ports, id);
}
