import { type JsonObject, secretKeys, type Workflow } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";

/**
 * A workflow of one node of another, to try it on a context: start, the node, end. It has an id of its own
 * (`invoice--find-total`), so that it is no version of the whole one; what decisions led on to does not matter here.
 */
export function oneNodeWorkflow(workflow: Workflow, id: string): Workflow {
  const node = workflow.nodes.find((one) => one.id === id);
  if (node?.type !== "action" && node?.type !== "decision") {
    const ids = workflow.nodes.filter((one) => one.type === "action" || one.type === "decision").map((one) => one.id);
    const advice = `the nodes with code are ${ids.join(", ")}`;
    throw new InvalidInput(node ? `node "${id}" has no code - ${advice}` : `there is no node "${id}" - ${advice}`);
  }
  const { onError: _, ...alone } = node;
  const { inputs, ...rest } = workflow;
  const [start, end] = ["start", "end"].map((name) => (name === id ? `${name}_` : name)) as [string, string];
  const ways = workflow.edges.filter((edge) => edge.from === id).map((edge) => ({ ...edge, to: end }));
  return {
    ...rest,
    ...(inputs && { inputs: secretsOf(workflow) }),
    id: `${workflow.id}--${id.toLowerCase().replaceAll("_", "-")}`,
    name: `${workflow.name}: ${node.name ?? id}`,
    nodes: [{ id: start, type: "start" }, alone, { id: end, type: "end" }],
    edges: [{ from: start, to: id }, ...ways],
  };
}

/** A context from the middle of a run need not fit the `inputs`, but what is secret stays secret. */
function secretsOf(workflow: Workflow): JsonObject {
  const secret = Array.from(secretKeys(workflow), (key) => [key, { secret: true }]);
  return { type: "object", properties: Object.fromEntries(secret) };
}
