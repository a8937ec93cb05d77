import { type Execution, type StartRequest, startExecution, type TimeBudget } from "@nova/engine";
import type { ServicePorts } from "../ports/index.ts";
import { admit, type QueuePorts } from "./admit.ts";
import { fillPools } from "./fill.ts";
import { limitsOf, poolsOf, type RunQuotas } from "./pools.ts";

/** Starts a run, or queues it where quotas count it. Without quotas nothing is read or written for it. */
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

/**
 * What died on its way in or out of a queue: runs that are queued and in no queue go into theirs, slots of runs that are
 * over come back, and whoever has a slot begins. Answers how many were queued, as far as it came.
 */
export async function sweepQueues(ports: QueuePorts, timeBudget?: TimeBudget): Promise<number> {
  let queued = 0;
  const running = new Set<string>();
  const waitedFor = new Set<string>();
  for await (const { id, status, pools = [] } of ports.executions.open()) {
    if (timeBudget?.aborted) break;
    if (status !== "queued") {
      running.add(id);
      continue;
    }
    queued += 1;
    await ports.slots.enqueue({ execution: id, pools });
    for (const pool of pools) waitedFor.add(pool);
  }
  for await (const pool of ports.slots.pools()) {
    if (timeBudget?.aborted) break;
    await lookAfter(ports, pool, running);
  }
  // However late it is: whoever was found to wait would wait for the next sweep, which may come no further.
  await fillPools(ports, Array.from(waitedFor));
  return queued;
}

/** Slots that nobody uses. The index of what is open may be late, so the record is asked. */
async function lookAfter(ports: QueuePorts, pool: string, running: ReadonlySet<string>): Promise<void> {
  for (const execution of await ports.slots.taken(pool)) {
    if (running.has(execution)) continue;
    const record = await ports.executions.get(execution);
    if (!record?.open) await ports.slots.giveBack(pool, execution);
    // Whoever was beginning it may be dead: it begins now, or gives back what it has.
    else if (record.status === "queued") await admit(ports, { execution, pools: record.pools ?? [] }, limitsOf(ports));
  }
}
