import { isDeepStrictEqual } from "node:util";
import { codeInDefinition, type Node, nodeIndex, type Workflow } from "@nova/workflow";
import { isTextNode } from "../attempt/text.ts";
import type { GivenOutcomes } from "../kinds/start/start.ts";
import type { Execution } from "../ports/executions.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import { buildReference, type PlaceReference, writeDocument } from "./restart.ts";
import { isReused, isStep } from "./selection.ts";
import { type Reads, Source } from "./source.ts";

/**
 * Returns the keys of the context that code may look up. Returns null if the code may look up any key, and `more` if
 * the code looks at more than the context.
 */
export type KeysLookedUp = (code: string) => Promise<string[] | null | "more">;

/**
 * The ids of unchanged nodes, each with the keys of the context that the node's code looks up. null means any key, and
 * `asked` means that the node is a text node.
 */
export type UnchangedNodes = Record<string, string[] | null | "asked">;

export interface ReuseRequest {
  version: WorkflowVersion;
  /** Ids of nodes that run even if they are unchanged. */
  fresh: readonly string[];
  findLookedUpKeys: KeysLookedUp;
}

/**
 * Plans the reuse of an execution. The outcome of an unchanged node counts if the keys that the node looks up have the
 * same values as before.
 */
export async function planReuse(
  ports: Reads,
  source: Execution,
  { version, fresh, findLookedUpKeys }: ReuseRequest,
): Promise<GivenOutcomes> {
  const earlier = await ports.workflows.get(source.workflowId, source.version);
  const unchanged = earlier ? await findUnchangedNodes(version, earlier, findLookedUpKeys) : {};
  return referenceUnchanged(ports, source, unchanged, fresh);
}

export async function referenceUnchanged(
  ports: Reads,
  { id, root, tip = "" }: Execution,
  unchanged: UnchangedNodes,
  fresh: readonly string[],
): Promise<GivenOutcomes> {
  const { entries } = await Source.read(ports, id);
  const references = Array.from(entries).flatMap(([place, entry]): PlaceReference[] => {
    const { node_id, node_type } = entry.head;
    const keys = Object.hasOwn(unchanged, node_id) ? unchanged[node_id] : undefined;
    if (keys === undefined || !isStep(node_type) || !isReused({ again: fresh }, entry)) return [];
    return [[place, { ...buildReference(entry), condition: keys ?? "context" }]];
  });
  return { document: writeDocument(references), root, after: id, tip };
}

/**
 * Finds the nodes whose definitions have not changed, and all text nodes. Leaves out nodes that look at more than the
 * context.
 */
export async function findUnchangedNodes(
  version: WorkflowVersion,
  earlier: WorkflowVersion,
  findLookedUpKeys: KeysLookedUp,
): Promise<UnchangedNodes> {
  const others = nodeIndex(earlier.workflow);
  const unchanged: UnchangedNodes = {};
  // NOVA compares a text node by its question to the model. The outcome of a text node without code depends only on
  // this question.
  for (const { node } of nodeIndex(version.workflow).values())
    if (isTextNode(node) && !codeInDefinition(node.executor) && isTextNode(others.get(node.id)?.node))
      unchanged[node.id] = "asked";
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

/** Returns the parts of a definition on which the outcome of every node may depend. */
function surroundings({ workflow: { lib, requirements, inputs } }: WorkflowVersion): Partial<Workflow> {
  return { lib, requirements, ...(inputs && { inputs }) };
}

/**
 * Returns the settings of a node on which the outcome of the node depends. Leaves out the body of a map, because the
 * outcome of a map is its list of items.
 */
function settingsOf(node: Node, { workflow }: WorkflowVersion): object {
  const { description: _, ...rest } = node;
  const { model, lock, credentials } = workflow;
  const isPrompt = "executor" in node && "prompt" in node.executor;
  const written = isPrompt ? { model, locked: lock?.[node.id] } : {};
  return { ...rest, ...("body" in rest && { body: undefined }), ...written, credentials };
}

async function keysOf(node: Node, findLookedUpKeys: KeysLookedUp): Promise<string[] | null | "more"> {
  // A text node with code has calls, whose results are not in the context.
  const isText: boolean = isTextNode(node);
  if ("workflow" in node || isText) return "more";
  if ("items" in node) return keysOfPath(node.items);
  // A node with `inputKeys` also reads results of other nodes, whose keys cannot be compared.
  if ("inputKeys" in node && node.inputKeys) return "more";
  if (!("executor" in node && "code" in node.executor)) return null;
  return findLookedUpKeys(node.executor.code);
}

/** Lists the keys with which a path may start. The list has several keys, because keys can contain dots. */
function keysOfPath(path: string): string[] {
  const steps = path.split(".");
  return steps.map((_, last) => steps.slice(0, last + 1).join("."));
}

/**
 * Returns the sentence that says why a run of this version for this client cannot reuse outcomes of the source; null if
 * the run can reuse them.
 */
export function reuseProblem(source: Execution, { workflowId }: WorkflowVersion, client: string): string | null {
  if (source.tip === undefined) return `execution ${source.id} is open - wait for its end, or reuse another one`;
  if (source.erased) return `the contents of execution ${source.id} were erased - reuse another one`;
  if (source.workflowId !== workflowId)
    return `execution ${source.id} is one of workflow "${source.workflowId}" - reuse one of "${workflowId}"`;
  return source.client === client
    ? null
    : `execution ${source.id} is one of client "${source.client}" - reuse one of "${client}"`;
}
