import { type Finding, finding, nodeIndex, type Workflow } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import type { ServicePorts } from "../ports/index.ts";

export interface Call {
  workflow: string;
  version?: number;
  node: string;
  by: string;
}

export function callsOf(workflow: Workflow): Call[] {
  return Array.from(nodeIndex(workflow).values()).flatMap(({ node }) => {
    if (node.type !== "workflow") return [];
    return [defined({ workflow: node.workflow, version: node.version, node: node.id, by: workflow.id })];
  });
}

/** The reason why the target of a call does not exist, without advice for the user; undefined if it exists. */
export async function missingCall(
  { workflows }: Pick<ServicePorts, "workflows">,
  { workflow, version, node, by }: Call,
): Promise<{ message: string; latest?: number } | undefined> {
  const latest = await workflows.latest(workflow);
  const runs = `which node "${node}" of "${by}" runs`;
  if (!latest) return { message: `there is no workflow "${workflow}", ${runs}` };
  if (version === undefined || (await workflows.get(workflow, version))) return undefined;
  return { message: `workflow "${workflow}" has no version ${version}, ${runs}`, latest: latest.version };
}

/** A finding for each node that calls an unknown workflow or version. A workflow may call itself before it is published. */
export async function findMissingCalls(ports: Pick<ServicePorts, "workflows">, caller: Workflow): Promise<Finding[]> {
  const calls = callsOf(caller).filter(({ workflow }) => workflow !== caller.id);
  const missing = await Promise.all(calls.map((call) => missingCall(ports, call)));
  return missing.flatMap((one) => {
    if (!one) return [];
    const advice = one.latest === undefined ? "publish it first" : `its latest is ${one.latest}`;
    return [finding("NOVA419", "$", `${one.message} - ${advice}`)];
  });
}
