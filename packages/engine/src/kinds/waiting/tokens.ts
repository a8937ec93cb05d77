import { StoreUnavailable } from "../../errors.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { TaskKey, WaitingTask } from "../../ports/tasks.ts";
import { answerFor } from "../../protocol/answer.ts";
import { eventOf } from "../../protocol/event.ts";
import { sha256 } from "../../sha256.ts";

/** The encryption context of a task token: the token can be decrypted for this task only. */
function bondOf({ execution, id }: TaskKey): Record<string, string> {
  return { execution, task: id };
}

export async function keepToken(ports: Ports, task: TaskKey, token: string): Promise<void> {
  const sealed = await ports.vault.seal(token, bondOf(task));
  await ports.tasks.putToken(task, { key: sha256(token).slice(0, 32), sealed });
}

/**
 * Sends the committed outcome to Step Functions with every token of the task, because NOVA does not know which token is
 * still valid.
 */
export async function sendAnswer(ports: Ports, task: WaitingTask, entry: StoredEntry): Promise<void> {
  const output = JSON.stringify(await answerFor(entry, eventOf(task), ports));
  for (const { sealed } of await ports.tasks.tokens(task)) {
    await ports.stateMachines.answerTask(await ports.vault.open(sealed, bondOf(task)), output);
  }
  await ports.tasks.move(task, ["open", "answered"], "sent");
}

/** Sends the outcome as `sendAnswer` does. Returns false if DynamoDB or Step Functions does not respond. */
export async function trySendAnswer(ports: Ports, task: WaitingTask, entry: StoredEntry): Promise<boolean> {
  try {
    await sendAnswer(ports, task, entry);
    return true;
  } catch (error) {
    if (error instanceof StoreUnavailable) return false;
    throw error;
  }
}
