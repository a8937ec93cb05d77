import { type Closed, cancelExecution } from "@nova/engine";
import { recordDeed } from "../audit/record.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import { executionWithin } from "./find.ts";

/** Stops a run; of one that is over it answers how it ended. Throws `ExecutionNotFound`. */
export async function cancel(ports: ServicePorts, by: Principal, id: string): Promise<Closed> {
  const { client, open } = await executionWithin(ports, by, id);
  const closed = await cancelExecution(ports, id);
  if (open) await recordDeed(ports, by, { action: "execution.cancelled", client, subject: id });
  return closed;
}
