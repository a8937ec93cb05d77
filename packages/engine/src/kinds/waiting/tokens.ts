import { sha256 } from "../../json/hash.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { TaskKey, WaitingTask } from "../../ports/tasks.ts";
import { answerFor } from "../../protocol/answer.ts";
import { eventOf } from "../../protocol/event.ts";

/** What a sealed token is bound to: it opens for no other task. */
function bondOf({ execution, id }: TaskKey): Record<string, string> {
  return { execution, task: id };
}

export async function keepToken(ports: Pick<Ports, "tasks" | "vault">, task: TaskKey, token: string): Promise<void> {
  const sealed = await ports.vault.seal(token, bondOf(task));
  await ports.tasks.putToken(task, { key: sha256(token).slice(0, 32), sealed });
}

/** Hands the committed outcome to Step Functions, with every token that was given out for it; most of them are dead. */
export async function sendAnswer(ports: Ports, task: WaitingTask, entry: StoredEntry): Promise<void> {
  const output = JSON.stringify(await answerFor(entry, eventOf(task), ports));
  for (const { sealed } of await ports.tasks.tokens(task)) {
    await ports.stateMachines.answerTask(await ports.vault.open(sealed, bondOf(task)), output);
  }
  await ports.tasks.move(task, ["open", "answered"], "sent");
}
