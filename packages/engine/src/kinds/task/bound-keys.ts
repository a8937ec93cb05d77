import { type InputKey, nodeIndex, objectText, type TaskNode, type Workflow } from "@nova/workflow";
import type { Position } from "../../chain/position.ts";
import { type Context, linkLabel } from "../../context/context.ts";
import type { Ports } from "../../ports/index.ts";
import { KnownNodes } from "./known-nodes.ts";

/** What a node finds, with the results of other nodes under the names of its `inputKeys`. What nobody has brought is left out. */
export async function withInputKeys(
  ports: Ports,
  position: Position,
  { id, inputKeys }: TaskNode,
  workflow: Workflow,
  input: Context,
): Promise<Context> {
  if (!inputKeys) return input;
  const known = await KnownNodes.before(ports, position, workflow);
  const nodes = nodeIndex(workflow).values();
  const edges = [...(workflow.draftPrefix?.edges ?? []), ...nodes.flatMap((one) => one.edges)];
  const upstream = [...new Set(edges.flatMap(({ from, to }) => (to === id ? [from] : [])))];
  const bound = await Promise.all(
    Object.entries(inputKeys).map(async ([key, source]) => {
      const json = await boundValue(known, source, upstream);
      return json === undefined ? [] : [{ key, json }];
    }),
  );
  return input.apply({ set: bound.flat(), delete: [] }, linkLabel(position.at));
}

/** JSON text, large parts as references; of several nodes the last that has it. */
async function boundValue(known: KnownNodes, { node, key }: InputKey, upstream: string[]): Promise<string | undefined> {
  let found: string | undefined;
  for (const id of node === undefined ? upstream : [node]) {
    const results = await known.resultsOf(id);
    if (results && key === undefined) found = objectText(results);
    else found = results?.find((one) => one.key === key)?.json ?? found;
  }
  return found;
}
