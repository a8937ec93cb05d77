import { defined, type Finding, finding, nodeIndex, type Workflow } from "@nova/workflow";
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

/**
 * Returns a message that says why the target of a call does not exist, without advice for the user. Returns undefined
 * if the target exists.
 */
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

/** Returns findings for calls of unknown workflows, and for tools of agents that call the agent's own workflow. */
export async function findCallProblems(ports: Pick<ServicePorts, "workflows">, caller: Workflow): Promise<Finding[]> {
  return [...(await findMissingCalls(ports, caller)), ...(await findToolCycles(ports, caller))];
}

/** Returns a finding for each tool of an agent through which a published workflow calls the agent's own workflow. */
async function findToolCycles({ workflows }: Pick<ServicePorts, "workflows">, caller: Workflow): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { node: agent } of nodeIndex(caller).values()) {
    if (agent.type !== "agent") continue;
    const ways = agent.body.nodes.flatMap((tool) =>
      tool.type === "workflow" && tool.workflow !== caller.id ? [[tool.workflow]] : [],
    );
    const seen = new Set(ways.flat());
    for (const way of ways) {
      const called = await workflows.latest(way.at(-1) ?? "");
      for (const { workflow } of called ? callsOf(called.workflow) : []) {
        if (workflow === caller.id) findings.push(cycleFinding(agent.id, [caller.id, ...way, caller.id]));
        else if (!seen.has(workflow)) ways.push([...way, workflow]);
        seen.add(workflow);
      }
    }
  }
  return findings;
}

function cycleFinding(agent: string, way: string[]): Finding {
  const shown = way.map((id) => JSON.stringify(id)).join(" > ");
  const message = `the agent "${agent}" would call its own workflow again: ${shown} - name another workflow`;
  return finding("NOVA454", "$", message);
}

/**
 * Returns a finding for each node that calls an unknown workflow or version. A workflow may call itself before it is
 * published.
 */
async function findMissingCalls(ports: Pick<ServicePorts, "workflows">, caller: Workflow): Promise<Finding[]> {
  const calls = callsOf(caller).filter(({ workflow }) => workflow !== caller.id);
  const missing = await Promise.all(calls.map((call) => missingCall(ports, call)));
  return missing.flatMap((one) => {
    if (!one) return [];
    const advice = one.latest === undefined ? "publish it first" : `its latest is ${one.latest}`;
    return [finding("NOVA419", "$", `${one.message} - ${advice}`)];
  });
}
