import { type Execution, type StartRequest, startExecution } from "@nova/engine";
import type { ServicePorts } from "../ports/index.ts";
import { fillPools } from "./fill.ts";
import { poolsOf, type RunQuotas } from "./pools.ts";

/**
 * Starts a run, or has it wait for a slot where quotas count it: then it is `queued`, and begins when it is its turn,
 * which may be at once. Without quotas nothing is read or written for it.
 */
export async function startOrQueue(
  ports: ServicePorts,
  request: StartRequest & { client: string },
  quotas: Omit<RunQuotas, "workflow" | "client">,
): Promise<Execution> {
  const { version, client } = request;
  const pools = poolsOf({ workflow: version.workflowId, client, ...quotas });
  if (pools.length === 0) return startExecution(ports, request);
  const queued = await startExecution(ports, { ...request, queue: { pools, admission: "" } });
  await ports.slots.enqueue({ execution: queued.id, pools });
  await fillPools(ports, pools);
  return (await ports.executions.get(queued.id)) ?? queued;
}
