import { dirname, resolve } from "node:path";
import type { Compiled } from "@nova/compiler";
import {
  type Finding,
  isFileOfFolder,
  type JsonObject,
  mappingKey,
  type ParsedWorkflow,
  parseWorkflow,
  readWorkflowSource,
  secretKeys,
  type Workflow,
  WorkflowSourceError,
} from "@nova/workflow";
import { InvalidInput } from "../errors.ts";

/**
 * Reads and parses the workflow at a path. If the workflow cannot be read, the result contains one finding with the
 * reason.
 */
export async function readAndParse(path: string): Promise<ParsedWorkflow> {
  try {
    return parseWorkflow(await readWorkflowSource(path));
  } catch (error) {
    if (error instanceof WorkflowSourceError) return { findings: [error.finding], python: [], keyFindings: () => [] };
    throw error;
  }
}

export async function readAndCompile(path: string): Promise<Compiled> {
  const parsed = await readAndParse(path);
  const { compileParsed } = await import("@nova/compiler");
  return compileParsed(parsed);
}

/**
 * Finds NOVA443: a budget for a model whose price is unknown. `DEFAULT_MODEL` of this process counts as a node's
 * default model.
 */
export async function findUnpriced({ workflow }: Pick<ParsedWorkflow, "workflow">): Promise<Finding[]> {
  if (!workflow) return [];
  const { budgetsWithoutPrice } = await import("@nova/agents");
  return budgetsWithoutPrice(workflow, process.env.DEFAULT_MODEL);
}

/**
 * Finds folders whose workflows have the same id, because the publication of one would replace the other. Returns one
 * sentence for each of these folders, by the path of the folder.
 */
export function findSharedIds(made: readonly { path: string; id: string | undefined }[]): Map<string, string> {
  const problems = new Map<string, string>();
  for (const [id, all] of Map.groupBy(made, (one) => one.id)) {
    const folders = [...new Map(all.map(({ path }) => [workflowPath(path), `"${path}"`])).values()];
    if (id === undefined || folders.length < 2) continue;
    const list = new Intl.ListFormat("en-GB").format(folders);
    const make = folders.length === 2 ? "both make" : "all make";
    for (const { path } of all)
      problems.set(path, `folders ${list} ${make} the workflow "${id}" - give one of them another id`);
  }
  return problems;
}

/** Returns the folder of a workflow that is given as a folder or as its file. */
export function workflowPath(path: string): string {
  return resolve(isFileOfFolder(path) ? dirname(path) : path);
}

/**
 * Makes a workflow of start, one node and end, so that the user can try the node on a context. The new workflow has an
 * id of its own, such as `invoice--find-total`, so its versions are separate from those of the whole workflow.
 */
export function oneNodeWorkflow(workflow: Workflow, id: string): Workflow {
  const node = workflow.nodes.find((one) => one.id === id);
  if (node?.type !== "action" && node?.type !== "decision") {
    const ids = workflow.nodes.filter((one) => one.type === "action" || one.type === "decision").map((one) => one.id);
    const advice = `the nodes with code are ${ids.join(", ")}`;
    throw new InvalidInput(node ? `node "${id}" has no code - ${advice}` : `there is no node "${id}" - ${advice}`);
  }
  // The new workflow has no `inputKeys`, because they name results of other nodes. The context must contain these
  // results instead.
  const { onError: _, inputKeys: __, ...alone } = node;
  const { inputs, ...rest } = workflow;
  const [start, end] = ["start", "end"].map((name) => (name === id ? `${name}_` : name)) as [string, string];
  const edges = workflow.edges.filter((edge) => edge.from === id).map((edge) => ({ ...edge, to: end }));
  // A context from the middle of a run need not match the `inputs` of the workflow. So the new workflow keeps only
  // those inputs that are secrets.
  const secrets = Object.fromEntries(Array.from(secretKeys(workflow), (key) => [key, { secret: true }]));
  return {
    ...rest,
    ...(inputs && { inputs: { type: "object", properties: secrets } }),
    ...(node.executor.kind === "text" && { inputs: withMapping(secrets) }),
    id: `${workflow.id}--${id.toLowerCase().replaceAll("_", "-")}`,
    name: `${workflow.name}: ${node.name ?? id}`,
    nodes: [{ id: start, type: "start" }, alone, { id: end, type: "end" }],
    edges: [{ from: start, to: id }, ...edges],
  };
}

/** Returns a schema of inputs that also accepts the results of other nodes, because a prompt may refer to them. */
function withMapping(properties: JsonObject): JsonObject {
  return {
    type: "object",
    properties: { ...properties, [mappingKey]: { type: "object" } },
    additionalProperties: true,
  };
}
