import { offloadLargeValues } from "../../context/offload.ts";
import { escapeReferences } from "../../context/references.ts";
import type { BlobHome } from "../../ports/blobs.ts";
import type { Ports } from "../../ports/index.ts";
import type { WaitingTask } from "../../ports/tasks.ts";
import { commitAnswer, waitingAt } from "./answer.ts";
import { goneOn } from "./outcomes.ts";
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
    const outcome = goneOn(waiting.definition, [set], { turn: next.turn, nowMs: ports.clock.now() });
    await commitAnswer(ports, waiting, outcome);
    return true;
  } catch (error) {
    if (error instanceof AnswerRefused) return false;
    throw error;
  }
}

/** What others sent, as the context keeps it: what is large in it lies in blobs. */
export function slimText({ blobs }: Pick<Ports, "blobs">, home: BlobHome, text: string): Promise<string> {
  return offloadLargeValues(escapeReferences(text), (ref, body) => blobs.put(home, ref, body));
}
