import type { Execution, StartRequest, TimeBudget } from "@nova/engine";
import type { ServicePorts } from "../ports/index.ts";
import { admit, type QueuePorts, ticketOf } from "./admit.ts";
import { fillPools } from "./fill.ts";
import { allRunsPool, limitsOf, poolsOf, type RunQuotas } from "./pools.ts";

/** Starts a run with `start`, or queues it if a quota applies. Without quotas it reads and writes nothing. */
export async function startOrQueue(
  ports: ServicePorts,
  quotas: Omit<RunQuotas, "atOnce">,
  start: (queue: Pick<StartRequest, "queue">) => Promise<Execution>,
): Promise<Execution> {
  const atOnce = ports.admissions?.atOnce;
  const pools = poolsOf({ ...quotas, atOnce });
  if (pools.length === 0) return start({});
  const rank = atOnce !== undefined && { rank: await ports.slots.rank(allRunsPool, quotas.client) };
  const queued = await start({ queue: { pools, admission: "", ...rank } });
  await ports.slots.enqueue(ticketOf(queued));
  await fillPools(ports, pools);
  return (await ports.executions.get(queued.id)) ?? queued;
}

/**
 * Repairs queues after crashes: queues runs again that are missing in their queues, frees slots of ended runs, and starts
 * runs that have slots. Returns the number of queued runs that it saw before its time ended.
 */
export async function sweepQueues(ports: QueuePorts, timeBudget?: TimeBudget): Promise<number> {
  let queued = 0;
  const running = new Set<string>();
  const waitedFor = new Set<string>();
  for await (const record of ports.executions.open()) {
    if (timeBudget?.aborted) break;
    if (record.status === "running") running.add(record.id);
    if (record.status !== "queued") continue;
    queued += 1;
    const ticket = ticketOf(record);
    await ports.slots.enqueue(ticket);
    for (const pool of ticket.pools) waitedFor.add(pool);
  }
  for await (const pool of ports.slots.pools()) {
    if (timeBudget?.aborted) break;
    await repairPool(ports, pool, running);
  }
  // Runs even after the time limit: the next sweep may not get this far, and these runs would keep waiting.
  await fillPools(ports, Array.from(waitedFor));
  return queued;
}

/**
 * Frees unused slots of a pool: those of ended runs, and in the pool of all runs those of waiting runs. The index of open
 * runs may be out of date, so it reads the record.
 */
async function repairPool(ports: QueuePorts, pool: string, running: ReadonlySet<string>): Promise<void> {
  for (const execution of await ports.slots.taken(pool)) {
    if (running.has(execution)) continue;
    const record = await ports.executions.get(execution);
    const isIdle = !record?.open || (pool === allRunsPool && record.status === "waiting");
    if (isIdle) await ports.slots.giveBack(pool, execution);
    // The process that was starting this run may have crashed: start it now, or free its slots.
    else if (record.status === "queued") await admit(ports, ticketOf(record), limitsOf(ports));
  }
}
