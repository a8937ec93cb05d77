import { defined } from "@nova/workflow/defined";
import { demandAllClients } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import { everyItem } from "../ports/page.ts";
import type { WorkflowQuotas } from "../ports/quotas.ts";
import { findWorkflow, setPaused } from "../workflows/find.ts";
import { fillPools } from "./fill.ts";
import { readPool } from "./pools.ts";

/** Throws `NotFound`. */
export async function workflowQuotas(ports: ServicePorts, id: string): Promise<WorkflowQuotas> {
  return (await findWorkflow(ports, id)).quotas ?? {};
}

/** Replaces all quotas of a workflow. Runs that started without a quota hold no slot. Throws `NotFound`, `Forbidden`. */
export async function setWorkflowQuotas(
  ports: ServicePorts,
  by: Principal,
  id: string,
  quotas: WorkflowQuotas,
): Promise<void> {
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
 * Pauses or resumes a workflow. While it is paused, its new runs are queued, its schedules skip their times, and its
 * started runs continue. On resuming, queued runs start as far as quotas allow. Throws `NotFound`, `Forbidden`.
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

/** The pools in which its queued runs wait, including pools of clients. */
async function poolsOfQueued({ executions }: Pick<ServicePorts, "executions">, workflow: string): Promise<string[]> {
  const pageAt = (cursor?: string) =>
    executions.list({ workflow, status: "queued", limit: 100, ...defined({ cursor }) });
  const queued = await Array.fromAsync(everyItem(pageAt));
  return [...new Set(queued.flatMap(({ pools = [] }) => pools))];
}
