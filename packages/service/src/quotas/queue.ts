import type { Execution, StartRequest, TimeBudget } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { demandAllClients } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import type { WorkflowQuotas } from "../ports/clients.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import { everyItem } from "../ports/page.ts";
import { findWorkflow, setPaused } from "../workflows/find.ts";
import { admit, fillPools, type QueuePorts, ticketOf } from "./fill.ts";
import { allRunsPool, limitsOf, poolsOf, type RunQuotas, readPool } from "./pools.ts";

/**
 * Starts a run with `start`, or queues it if a quota, a pause or the limit for all runs applies. If none of these
 * applies, the function only calls `start`.
 */
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
 * Repairs queues after crashes: queues runs again that are missing in their queues, frees slots of ended runs, and
 * starts runs that have slots. Returns the number of queued runs that it saw before `timeBudget` ended.
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
  // Starts these runs even after the time limit: the next sweep may not get this far either, and the runs would wait
  // for ever.
  await fillPools(ports, Array.from(waitedFor));
  return queued;
}

/**
 * Frees the slots of ended runs in a pool. In the pool of all runs, it also frees the slots of waiting runs. It reads
 * each run's record, since the index of open runs may be out of date.
 */
async function repairPool(ports: QueuePorts, pool: string, running: ReadonlySet<string>): Promise<void> {
  for (const execution of await ports.slots.taken(pool)) {
    if (running.has(execution)) continue;
    const record = await ports.executions.get(execution);
    const isIdle = !record?.open || (pool === allRunsPool && record.status === "waiting");
    if (isIdle) await ports.slots.giveBack(pool, execution);
    // Starts a queued run that holds a slot, or frees the slot: the process that was starting the run may have crashed.
    else if (record.status === "queued") await admit(ports, ticketOf(record), limitsOf(ports));
  }
}

/** Returns the quotas of a workflow. Throws `NotFound`. */
export async function workflowQuotas(ports: ServicePorts, id: string): Promise<WorkflowQuotas> {
  return (await findWorkflow(ports, id)).quotas ?? {};
}

/**
 * Replaces all quotas of a workflow. Runs that started before the workflow had a quota hold no slot, so they do not
 * count. Throws `NotFound`, and `Forbidden` if the caller's key is for one client.
 */
export async function setWorkflowQuotas(ports: ServicePorts, by: Principal, id: string, quotas: WorkflowQuotas) {
  demandAllClients(by);
  await findWorkflow(ports, id);
  await ports.workflowStates.set(id, { quotas });
  const { maxConcurrent: all = "none", maxConcurrentPerClient: each = "none" } = quotas;
  const detail = { max_concurrent: all, max_concurrent_per_client: each };
  await recordDeed(ports, by, { action: "workflow.limited", client: null, subject: id, detail });
  const pools = await Array.fromAsync(ports.slots.pools());
  const own = pools.filter((name) => readPool(name).workflow === id);
  await fillPools(ports, own);
}

/**
 * Pauses or resumes a workflow. During a pause, new runs of the workflow are queued, schedules skip their times, and
 * started runs continue. When the workflow is resumed, queued runs start as far as quotas allow. Throws `NotFound`, and
 * `Forbidden` if the caller's key is for one client.
 */
export async function setWorkflowPaused(ports: ServicePorts, by: Principal, id: string, isPaused: boolean) {
  demandAllClients(by);
  await findWorkflow(ports, id);
  if (await setPaused(ports, by, { workflow: id, isPaused })) {
    const action = isPaused ? "workflow.paused" : "workflow.resumed";
    await recordDeed(ports, by, { action, client: null, subject: id });
  }
  if (!isPaused) await fillPools(ports, await poolsOfQueued(ports, id));
}

/** Returns the pools in which queued runs of a workflow wait, including pools of clients. */
async function poolsOfQueued({ executions }: Pick<ServicePorts, "executions">, workflow: string): Promise<string[]> {
  const pageAt = (cursor?: string) =>
    executions.list({ workflow, statuses: ["queued"], limit: 100, ...defined({ cursor }) });
  const queued = await Array.fromAsync(everyItem(pageAt));
  return [...new Set(queued.flatMap(({ pools = [] }) => pools))];
}
