import { type Position, readPosition } from "../../chain/position.ts";
import type { Ports } from "../../ports/index.ts";
import type { WaitingTask } from "../../ports/tasks.ts";
import { definitionOf, type NodeDefinition } from "../../protocol/definition.ts";
import { eventOf } from "../../protocol/event.ts";
import { AnswerRefused, decidedBefore, runIsOver } from "./refusals.ts";
import { isWaitingNode, termsOf, type WaitingNode } from "./waiting-node.ts";

/** A task that still waits, with its place. */
export interface Waiting extends NodeDefinition<WaitingNode> {
  task: WaitingTask;
  position: Position;
}

/** Throws `AnswerRefused` if the task no longer waits. */
export async function waitingAt(ports: Ports, task: WaitingTask): Promise<Waiting> {
  const event = eventOf(task);
  const definition = await definitionOf(ports, event);
  const { node } = definition;
  if (!isWaitingNode(node)) throw runIsOver(task);
  const { execution, scope, seq } = task;
  const position = await readPosition(ports, { execution, scope, seq });
  const { entry, turn } = position.next;
  if (entry) throw await decidedBefore(ports, task, termsOf(node).into, entry);
  if (turn?.state !== "held") throw runIsOver(task);
  if (Date.parse(task.expiresAt) <= ports.clock.now())
    throw new AnswerRefused(
      `"${task.node}" expired at ${task.expiresAt} - nova trace ${execution} shows what followed`,
    );
  return { ...definition, task, position, node };
}
