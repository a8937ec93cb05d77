import type { TaskNode } from "@nova/workflow";
import { inputBefore } from "../../chain/item-input.ts";
import type { LoadedContext, Position } from "../../chain/position.ts";
import type { Context } from "../../context/context.ts";
import type { CredentialOverlay } from "../../ports/credentials.ts";
import type { Ports } from "../../ports/index.ts";
import type { NodeDefinition } from "../../protocol/definition.ts";
import { restartKey } from "../../protocol/place-name.ts";
import { credentialOverlay, emptyOverlay, overlayAgain, withOverlay } from "../../secrets/overlay.ts";
import { withInputKeys } from "./bound-keys.ts";

/** A node that runs code, at its place in the chain. */
export interface Task extends NodeDefinition {
  position: Position;
  node: TaskNode;
  /** How often Step Functions has retried this task. */
  retries?: number | undefined;
}

/** What a node finds. */
export interface TaskInput {
  /** The context that its entry builds on. */
  kept: LoadedContext;
  /** The same with its credentials over it. */
  input: Context;
  overlay: CredentialOverlay;
  restartKey: string;
}

/** A decision never sees the one before it. */
export async function taskInput(ports: Ports, { position, node, version }: Task): Promise<TaskInput> {
  const whose = { client: position.before.client, version, node };
  const lay = position.next.turn?.sandbox ? overlayAgain : credentialOverlay;
  const [{ kept, input }, overlay, key] = await Promise.all([
    inputBefore(ports, position),
    position.before.sealed ? emptyOverlay : lay(ports, whose),
    restartKey(ports, position, node),
  ]);
  const bound = await withInputKeys(ports, position, node, version.workflow, input);
  const seen = node.type === "decision" ? bound.without("branch_decision") : bound;
  return { kept, input: withOverlay(seen, overlay), overlay, restartKey: key };
}
