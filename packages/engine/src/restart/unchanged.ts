import { isDeepStrictEqual } from "node:util";
import { type Node, nodeIndex, type Workflow } from "@nova/workflow";
import type { SourcePlan } from "../chain/head.ts";
import { isTextNode } from "../kinds/text/run-text.ts";
import type { Execution } from "../ports/executions.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";

/** Keys of the context that code may look up; null: any. `"more"`: it looks at more than the context. */
export type KeysLookedUp = (code: string) => Promise<string[] | null | "more">;

/**
 * Nodes of a version that are defined as in an earlier one, with the keys that they look up, null where that may be any;
 * and text nodes, whose question tells.
 * Not among them is what looks at more than the context, and what runs another workflow, whose versions change by
 * themselves.
 */
export async function unchangedNodes(
  version: WorkflowVersion,
  earlier: WorkflowVersion,
  findLookedUpKeys: KeysLookedUp,
): Promise<NonNullable<SourcePlan["unchanged"]>> {
  const others = nodeIndex(earlier.workflow);
  const unchanged: NonNullable<SourcePlan["unchanged"]> = {};
  // What its model is asked says all that the outcome of a text node depends on.
  for (const { node } of nodeIndex(version.workflow).values())
    if (isTextNode(node) && isTextNode(others.get(node.id)?.node)) unchanged[node.id] = "asked";
  if (version.template !== earlier.template || !isDeepStrictEqual(surroundings(version), surroundings(earlier)))
    return unchanged;
  for (const { node } of nodeIndex(version.workflow).values()) {
    if (unchanged[node.id] !== undefined) continue;
    const other = others.get(node.id)?.node;
    if (!other || !isDeepStrictEqual(settingsOf(node, version), settingsOf(other, earlier))) continue;
    const keys = await keysOf(node, findLookedUpKeys);
    if (keys !== "more") unchanged[node.id] = keys;
  }
  return unchanged;
}

/** What the outcome of every node may depend on. */
function surroundings({ workflow: { lib, requirements, inputs } }: WorkflowVersion): Partial<Workflow> {
  return { lib, requirements, ...(inputs && { inputs }) };
}

/** What the outcome of a node depends on, besides values; of a map not what its items come to. */
function settingsOf(node: Node, { workflow }: WorkflowVersion): object {
  const { description: _, ...rest } = node;
  const { model, lock, credentials } = workflow;
  const isPrompt = "executor" in node && "prompt" in node.executor;
  const written = isPrompt ? { model, locked: lock?.[node.id] } : {};
  return { ...rest, ...("body" in rest && { body: undefined }), ...written, credentials };
}

async function keysOf(node: Node, findLookedUpKeys: KeysLookedUp): Promise<string[] | null | "more"> {
  if ("workflow" in node) return "more";
  if ("items" in node) return keysOfPath(node.items);
  // Names for other nodes' results look at more than the context.
  if ("inputKeys" in node && node.inputKeys) return "more";
  if (!("executor" in node && "code" in node.executor)) return null;
  return findLookedUpKeys(node.executor.code);
}

/** Any of them may be the key that a path begins with: keys can have dots. */
function keysOfPath(path: string): string[] {
  const steps = path.split(".");
  return steps.map((_, last) => steps.slice(0, last + 1).join("."));
}

/** Why a run of this version for a client can take over nothing of another one, a sentence; null: it can. */
export function reuseProblem(source: Execution, { workflowId }: WorkflowVersion, client: string): string | null {
  if (source.tip === undefined) return `execution ${source.id} is open - wait for its end, or reuse another one`;
  if (source.erased) return `the contents of execution ${source.id} were erased - reuse another one`;
  if (source.workflowId !== workflowId)
    return `execution ${source.id} is one of workflow "${source.workflowId}" - reuse one of "${workflowId}"`;
  return source.client === client
    ? null
    : `execution ${source.id} is one of client "${source.client}" - reuse one of "${client}"`;
}
