import { at, type Finding, finding } from "../findings/finding.ts";
import type { Outline } from "./outline.ts";

/**
 * Reports NOVA454: a workflow that is a tool of its own agent. The publication of the workflow finds longer cycles, or
 * else the run does.
 */
export function* checkToolCycles(outlines: readonly Outline[], id: string): Iterable<Finding> {
  for (const { map, nodes } of outlines) {
    if (map?.node?.type !== "agent") continue;
    for (const { node, path } of nodes) {
      if (node?.type !== "workflow" || node.workflow !== id) continue;
      const message = `the agent "${map.node.id}" has its own workflow "${id}" as a tool, so its calls would never end - name another workflow`;
      yield finding("NOVA454", at(path, "workflow"), message);
    }
  }
}

/**
 * Reports NOVA455: several edges that leave an agent. A run visits an agent again after its calls, so parallel branches
 * must start at a node after the agent.
 */
export function* checkAgentEdges({ byId, edgesOf }: Outline): Iterable<Finding> {
  for (const { id, node } of byId.values()) {
    const [, second] = node?.type === "agent" ? (edgesOf.get(id) ?? []) : [];
    if (!second) continue;
    const message = `several edges leave the agent "${id}" - lead one edge to a node after it, and let the branches start there`;
    yield finding("NOVA455", second.path, message);
  }
}
