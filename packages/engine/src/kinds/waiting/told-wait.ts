import { type ApprovalNode, textOfJson, type WaitNode } from "@nova/workflow";
import { contextBefore } from "../../chain/item-input.ts";
import { inputAfter, readPosition } from "../../chain/position.ts";
import { unlessErased } from "../../chain/unless-erased.ts";
import { RawJson } from "../../json/raw.ts";
import type { LinkId, Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { WaitingTask } from "../../ports/tasks.ts";
import type { WaitsFor } from "../waits-for.ts";
import { taskId } from "./task-id.ts";
import { untilOf } from "./until.ts";
import { isWaitingNode } from "./waiting-node.ts";

/** Of an approval or a wait; null where it is about to ask. */
export async function toldWait(
  ports: Ports,
  node: ApprovalNode | WaitNode,
  at: LinkId,
  turn: Turn,
): Promise<WaitsFor | null> {
  if (!isWaitingNode(node)) return { kind: "time", until: await timeOf(ports, node, at, turn) };
  const id = taskId(at, turn.since);
  const task = await ports.tasks.get({ execution: at.execution, id });
  if (!task) return null;
  const common = { until: task.expiresAt, task_id: id };
  if (task.kind === "event") return { kind: "event", ...common, pattern: patternOf(task) };
  return { kind: "approval", ...common, message: task.message, choices: task.choices };
}

/** With the digits that it was bound with. */
function patternOf({ pattern }: WaitingTask): RawJson | null {
  return pattern === undefined ? null : new RawJson(textOfJson(pattern));
}

async function timeOf(ports: Ports, node: WaitNode, at: LinkId, { since }: Turn): Promise<string | null> {
  const position = await readPosition(ports, at);
  const kept = await unlessErased(() => contextBefore(ports, position));
  if (!kept) return null;
  const until = untilOf(node, await inputAfter(position.beforeEntry, kept.context, ports.blobs), Date.parse(since));
  return "ms" in until ? new Date(until.ms).toISOString() : null;
}
