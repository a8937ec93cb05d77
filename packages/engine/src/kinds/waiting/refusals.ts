import { headOf } from "../../chain/head.ts";
import { contextAfter, failureOf } from "../../chain/position.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { WaitingTask } from "../../ports/tasks.ts";

/** An answer without a matching question, or a late answer. The message says which, and what to do. */
export class AnswerRefused extends Error {
  override name = "AnswerRefused";
}

/** An answer with a choice or data that do not fit an open task. */
export class AnswerMisfit extends AnswerRefused {
  override name = "AnswerMisfit";
}

/** The fields of an approval's answer in the context that can be read without its data. */
export interface KeptAnswer {
  choice: string;
  by: string | null;
  at: string;
  from: string | null;
}

/** The refusal of a task whose link already has an entry. */
export async function decidedBefore(
  ports: Ports,
  task: WaitingTask,
  into: string,
  entry: StoredEntry,
): Promise<AnswerRefused> {
  const head = headOf(entry);
  if (head.node_type === "close") return runIsOver(task);
  if (head.status === "failed") {
    const { message } = await failureOf(entry, ports.blobs);
    const why = `${message} - nova trace ${task.execution} shows it`;
    return new AnswerRefused(`"${task.node}" takes no answer any more: ${why}`);
  }
  if (task.kind === "event") return new AnswerRefused(`"${task.node}" has what it waited for, since ${head.timestamp}`);
  const { context } = await contextAfter(entry, ports.blobs);
  const { choice, by, at, from } = JSON.parse(context.slot(into)?.json ?? "{}") as Partial<KeptAnswer>;
  if (by === null) return new AnswerRefused(`"${task.node}" expired at ${at} and went on as "${choice}"`);
  return new AnswerRefused(`"${task.node}" was already answered by ${by} at ${at}: ${choice} (${from})`);
}

export function runIsOver({ execution }: Pick<WaitingTask, "execution">): AnswerRefused {
  return new AnswerRefused(`execution ${execution} is over - nova trace ${execution} shows how it ended`);
}
