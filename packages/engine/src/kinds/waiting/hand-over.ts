import { slimText } from "../../context/offload.ts";
import type { BlobHome } from "../../ports/blobs.ts";
import type { Ports } from "../../ports/index.ts";
import type { WaitingTask } from "../../ports/tasks.ts";
import { wayOn } from "../../protocol/definition.ts";
import { codeless, succeeded } from "../../protocol/outcome.ts";
import { commitAnswer, waitingAt } from "./answer.ts";
import { AnswerRefused } from "./refusals.ts";
import { termsOf } from "./waiting-node.ts";

/** Goes on with an event, its JSON text as it came. False when the task waits no longer. */
export function handOver(ports: Ports, task: WaitingTask, text: string): Promise<boolean> {
  return goOn(ports, task, (home) => slimText(ports, home, text));
}

/** Goes on with what `slimText` made. */
export function handOverSlim(ports: Ports, task: WaitingTask, json: string): Promise<boolean> {
  return goOn(ports, task, async () => json);
}

async function goOn(ports: Ports, task: WaitingTask, make: (home: BlobHome) => Promise<string>): Promise<boolean> {
  try {
    const waiting = await waitingAt(ports, task);
    const { before, next } = waiting.position;
    const set = { key: termsOf(waiting.node).into, json: await make(before) };
    await commitAnswer(ports, waiting, succeeded(wayOn(waiting.definition), codeless(ports, next.turn), [set]));
    return true;
  } catch (error) {
    if (error instanceof AnswerRefused) return false;
    throw error;
  }
}
