import type { Edge, TaskNode } from "@nova/workflow";
import { contextBefore } from "../../chain/item-input.ts";
import { inputAfter, type LoadedContext, type Position } from "../../chain/position.ts";
import type { Context } from "../../context/context.ts";
import type { CredentialOverlay } from "../../ports/credentials.ts";
import type { Ports } from "../../ports/index.ts";
import type { WorkflowVersion } from "../../ports/workflows.ts";
import { credentialOverlay, overlayAgain, withOverlay } from "../../secrets/overlay.ts";

/** A node that runs code, at its place in the chain. */
export interface Task {
  position: Position;
  node: TaskNode;
  version: WorkflowVersion;
  /** The edges that leave it. */
  edges: Edge[];
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
}

/** A decision never sees the one before it. */
export async function taskInput(ports: Ports, { position, node, version }: Task): Promise<TaskInput> {
  const whose = { client: position.before.client, version, node };
  const lay = position.next.turn?.sandbox ? overlayAgain : credentialOverlay;
  const [kept, overlay] = await Promise.all([contextBefore(ports, position), lay(ports, whose)]);
  const input = await inputAfter(position.beforeEntry, kept.context, ports.blobs);
  return {
    kept,
    input: withOverlay(node.type === "decision" ? input.without("branch_decision") : input, overlay),
    overlay,
  };
}
