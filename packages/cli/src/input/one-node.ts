import { type JsonObject, mappingKey, secretKeys, type Workflow } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";

/**
 * Makes a workflow of start, one node and end, to try the node on a context. Its own id (`invoice--find-total`) keeps
 * it apart from the versions of the whole workflow.
 */
export function oneNodeWorkflow(workflow: Workflow, id: string): Workflow {
  const node = workflow.nodes.find((one) => one.id === id);
  if (node?.type !== "action" && node?.type !== "decision") {
    const ids = workflow.nodes.filter((one) => one.type === "action" || one.type === "decision").map((one) => one.id);
    const advice = `the nodes with code are ${ids.join(", ")}`;
    throw new InvalidInput(node ? `node "${id}" has no code - ${advice}` : `there is no node "${id}" - ${advice}`);
  }
  // Results of other nodes have no names here: the context must contain them.
  const { onError: _, inputKeys: __, ...alone } = node;
  const { inputs, ...rest } = workflow;
  const [start, end] = ["start", "end"].map((name) => (name === id ? `${name}_` : name)) as [string, string];
  const edges = workflow.edges.filter((edge) => edge.from === id).map((edge) => ({ ...edge, to: end }));
  // A context from the middle of a run need not match the `inputs`, but its secrets stay secret.
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

/** Inputs that may contain the results of other nodes, for the references of a prompt. */
function withMapping(properties: JsonObject): JsonObject {
  return {
    type: "object",
    properties: { ...properties, [mappingKey]: { type: "object" } },
    additionalProperties: true,
  };
}
