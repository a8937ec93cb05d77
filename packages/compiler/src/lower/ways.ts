import {
  conditionLabel,
  defaultLabel,
  type Edge,
  type Fork,
  type IndexedNode,
  isLong,
  looksAfter,
  type TaskNode,
} from "@nova/workflow";
import type { Decides, PlannedTask, Way } from "./plan.ts";
import { UncheckedWorkflow } from "./unchecked.ts";

/** The frame whose ways are resolved. */
export interface Inside {
  nodes: ReadonlySet<string>;
  isMain: boolean;
}

/** A way out of a branch leads to its join, one out of a body to its end: both mean that the frame is done. */
function wayTo(target: string, { nodes, isMain }: Inside): Way {
  if (nodes.has(target)) return target;
  if (isMain) throw new UncheckedWorkflow(`an edge leads to "${target}", which is in a branch or does not exist`);
  return null;
}

/** Where a node that decides nothing goes on; behind its join if it fans out. */
export function nextOf({ node, edges, body }: IndexedNode, fork: Fork | undefined, inside: Inside): Way {
  if (fork && fork.next === null && inside.isMain) {
    throw new UncheckedWorkflow(`node "${node.id}" fans out to branches that never meet`);
  }
  if (fork) return fork.next === null ? null : wayTo(fork.next, inside);
  const [edge] = edges;
  if (edge) return wayTo(edge.to, inside);
  if (body === null) throw new UncheckedWorkflow(`node "${node.id}" has no edge to go on along`);
  return null;
}

export function failureWay(node: { onError?: string }, inside: Inside): { onError?: Way } {
  return node.onError === undefined ? {} : { onError: wayTo(node.onError, inside) };
}

/** Where a node goes on by its decision. */
export function branchesOf(node: string, edges: Edge[], inside: Inside): Pick<Decides, "branches" | "otherwise"> {
  const labelled = edges.map(({ condition, to, max }) => ({
    ...{ label: conditionLabel(condition), target: wayTo(to, inside) },
    ...(max !== undefined && { max }),
  }));
  if (labelled.length === 0) throw new UncheckedWorkflow(`node "${node}" decides and has no edges`);
  const otherwise = labelled.find((branch) => branch.label === defaultLabel);
  return {
    branches: labelled.filter((branch) => branch !== otherwise),
    ...(otherwise && { otherwise: otherwise.target }),
  };
}

/** Runs at one link of code that lost machines may repeat. */
const mostAttempts = 3;

/** Every attempt has its own time, and a long node's wait for the next one is one more look. */
export function runsOf(node: TaskNode): Pick<PlannedTask, "looks" | "retry"> {
  const { retry, effects } = node;
  const runs = Math.max(retry?.attempts ?? 1, effects === false ? mostAttempts : 1);
  return {
    ...(isLong(node) && { looks: looksAfter(node) * runs + runs - 1 }),
    ...(retry && { retry }),
  };
}
