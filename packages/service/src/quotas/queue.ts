import type { Execution, StartRequest, TimeBudget } from "@nova/engine";
import type { ServicePorts } from "../ports/index.ts";
import { admit, type QueuePorts, ticketOf } from "./admit.ts";
import { fillPools } from "./fill.ts";
import { everybody, limitsOf, poolsOf, type RunQuotas } from "./pools.ts";

/** Has `start` start a run, or queue it where quotas count it. Without quotas nothing is read or written for it. */
export async function startOrQueue(
  ports: ServicePorts,
  quotas: Omit<RunQuotas, "atOnce">,
  start: (queue: Pick<StartRequest, "queue">) => Promise<Execution>,
): Promise<Execution> {
  const atOnce = ports.admissions?.atOnce;
  const pools = poolsOf({ ...quotas, atOnce });
  if (pools.length === 0) return start({});
  const rank = atOnce !== undefined && { rank: await ports.slots.rank(everybody, quotas.client) };
  const queued = await start({ queue: { pools, admission: "", ...rank } });
  await ports.slots.enqueue(ticketOf(queued));
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
    await lookAfter(ports, pool, running);
  }
  // However late it is: whoever was found to wait would wait for the next sweep, which may come no further.
  await fillPools(ports, Array.from(waitedFor));
  return queued;
}

/**
 * Slots that nobody uses: of runs that are over, and of everybody's those of runs that wait for something. The index of
 * what is open may be late, so the record is asked.
 */
async function lookAfter(ports: QueuePorts, pool: string, running: ReadonlySet<string>): Promise<void> {
  for (const execution of await ports.slots.taken(pool)) {
    if (running.has(execution)) continue;
    const record = await ports.executions.get(execution);
    const isIdle = !record?.open || (pool === everybody && record.status === "waiting");
    if (isIdle) await ports.slots.giveBack(pool, execution);
    // Whoever was beginning it may be dead: it begins now, or gives back what it has.
    else if (record.status === "queued") await admit(ports, ticketOf(record), limitsOf(ports));
  }
}
