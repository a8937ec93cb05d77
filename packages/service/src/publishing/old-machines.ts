import type { WorkflowVersion } from "@nova/engine";
import { listAllClients } from "../clients/clients.ts";
import type { ServicePorts } from "../ports/index.ts";
import { callsOf } from "../workflows/called.ts";

/** Versions of one state machine that always stay. Step Functions keeps 1,000. */
const keptVersions = 50;

/** Removes old versions of a state machine, except those that open runs, active versions, client pins or nodes use. */
export async function dropOldMachines(ports: ServicePorts, published: WorkflowVersion): Promise<void> {
  const old = (await ports.machineVersions.list(published.stateMachineArn)).slice(keptVersions);
  if (old.length === 0) return;
  const needed = await neededMachines(ports, published.workflowId);
  for (const arn of old) if (!needed.has(arn)) await ports.machineVersions.remove(arn);
}

async function neededMachines(ports: ServicePorts, workflowId: string): Promise<ReadonlySet<string>> {
  const arns = new Set<string>();
  for await (const { stateMachineArn } of ports.executions.open()) arns.add(stateMachineArn);
  for (const number of await neededNumbers(ports, workflowId)) {
    const version = await ports.workflows.get(workflowId, number);
    if (version) arns.add(version.stateMachineArn);
  }
  return arns;
}

async function neededNumbers(ports: ServicePorts, workflowId: string): Promise<ReadonlySet<number>> {
  const numbers = new Set<number>();
  const { active } = (await ports.workflowStates.get(workflowId)) ?? {};
  if (active !== undefined) numbers.add(active);
  for await (const { pins } of listAllClients(ports)) {
    const pinned = pins[workflowId];
    if (pinned !== undefined) numbers.add(pinned);
  }
  for await (const { workflow } of ports.workflows.everyVersion()) {
    for (const call of callsOf(workflow)) {
      if (call.workflow === workflowId && call.version !== undefined) numbers.add(call.version);
    }
  }
  return numbers;
}
