import { type JsonObject, matchesPattern } from "@nova/workflow";
import { offloadLargeValues } from "../context/offload.ts";
import { escapeReferences } from "../context/references.ts";
import type { Ports } from "../ports/index.ts";
import type { WaitingTask } from "../ports/tasks.ts";
import { commitAnswer, waitingAt } from "./answer.ts";
import { goneOn } from "./outcomes.ts";
import { AnswerRefused } from "./refusals.ts";
import { termsOf } from "./waiting-node.ts";

/**
 * Hands an event (JSON text, in EventBridge's shape) to every task that waits for one like it, and answers those tasks.
 * An event that comes before somebody waits for it is nobody's.
 */
export async function deliverEvent(ports: Ports, text: string): Promise<WaitingTask[]> {
  const event = JSON.parse(text) as JsonObject;
  const taken: WaitingTask[] = [];
  for await (const task of ports.tasks.pending()) {
    if (task.kind !== "event" || !task.pattern || !matchesPattern(task.pattern, event)) continue;
    if (await handOver(ports, task, text)) taken.push(task);
  }
  return taken;
}

/** False when the task waits no longer. */
async function handOver(ports: Ports, task: WaitingTask, text: string): Promise<boolean> {
  try {
    const waiting = await waitingAt(ports, task);
    const { before, next } = waiting.position;
    const json = await offloadLargeValues(escapeReferences(text), (ref, body) => ports.blobs.put(before, ref, body));
    const set = { key: termsOf(waiting.node).into, json };
    await commitAnswer(
      ports,
      waiting,
      goneOn(waiting.definition, [set], { turn: next.turn, nowMs: ports.clock.now() }),
    );
    return true;
  } catch (error) {
    if (error instanceof AnswerRefused) return false;
    throw error;
  }
}
