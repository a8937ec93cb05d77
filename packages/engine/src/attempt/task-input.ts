import { type InputKey, nodeIndex, objectText, secretKeys, type TaskNode, type Workflow } from "@nova/workflow";
import { inputBefore } from "../chain/item-input.ts";
import type { LoadedContext, Position } from "../chain/position.ts";
import { type Context, linkLabel } from "../context/context.ts";
import type { CredentialOverlay } from "../ports/credentials.ts";
import type { Ports } from "../ports/index.ts";
import type { NodeDefinition } from "../protocol/definition.ts";
import { restartKey } from "../protocol/place-name.ts";
import type { KindPorts } from "../protocol/settling.ts";
import { credentialOverlay, emptyOverlay, overlayAgain, withOverlay } from "../secrets/overlay.ts";
import { KnownNodes } from "./known-nodes.ts";
import { createNodeIo, type NodeIo } from "./node-io.ts";

/** A node that runs code or asks a model, at its place in the chain. */
export interface Task extends NodeDefinition {
  position: Position;
  node: TaskNode;
  /** How often Step Functions has retried this task. */
  retries?: number | undefined;
}

/** The input of a node that runs code. */
export interface TaskInput {
  /** The context that its entry builds on. */
  kept: LoadedContext;
  /** The same context as its code finds it, with the values of credentials. */
  input: Context;
  overlay: CredentialOverlay;
  restartKey: string;
  io: NodeIo;
}

/** Reads the input of a node that runs code. A decision never sees the decision before it. */
export async function taskInput(ports: KindPorts, { position, node, version }: Task): Promise<TaskInput> {
  const { client, sealed } = position.before;
  const findOverlay = position.next.turn?.sandbox ? overlayAgain : credentialOverlay;
  const [key, { kept, input: found }, overlay] = await Promise.all([
    restartKey(ports, position, node),
    inputBefore(ports, position),
    sealed ? emptyOverlay : findOverlay(ports, { client, version, node }),
  ]);
  const bound = await withInputKeys(ports, position, node, version.workflow, found);
  const input = withOverlay(node.type === "decision" ? bound.without("branch_decision") : bound, overlay);
  const io = await createNodeIo(ports, position, input, secretKeys(version.workflow), overlay);
  return { kept, input, overlay, restartKey: key, io };
}

/** Adds the results of other nodes under the names of the node's `inputKeys`. A key without a result is left out. */
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

/** JSON text, large parts as references. If several nodes have the value, the last one counts. */
async function boundValue(known: KnownNodes, { node, key }: InputKey, upstream: string[]): Promise<string | undefined> {
  let found: string | undefined;
  for (const id of node === undefined ? upstream : [node]) {
    const results = await known.resultsOf(id);
    if (results && key === undefined) found = objectText(results);
    else found = results?.find((one) => one.key === key)?.json ?? found;
  }
  return found;
}
