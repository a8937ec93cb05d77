import { demandAllClients } from "../access/authenticate.ts";
import { recordDeed } from "../audit/record.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { WorkflowQuotas } from "../ports/quotas.ts";
import { findWorkflow } from "../workflows/find.ts";
import { fillPools } from "./fill.ts";
import { readPool } from "./pools.ts";

/** Throws `NotFound`. */
export async function workflowQuotas(ports: ServicePorts, id: string): Promise<WorkflowQuotas> {
  return (await findWorkflow(ports, id)).quotas ?? {};
}

/**
 * Replaces the quotas of a workflow, whatever its version; runs that wider ones have room for begin. Runs that began
 * when no quota counted them hold no slot. Throws `NotFound`, `Forbidden`.
 */
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
  await fillPools(ports, await poolsOfWorkflow(ports, id));
}

async function poolsOfWorkflow({ slots }: Pick<ServicePorts, "slots">, id: string): Promise<string[]> {
  const names: string[] = [];
  for await (const name of slots.pools()) if (readPool(name).workflow === id) names.push(name);
  return names;
}
