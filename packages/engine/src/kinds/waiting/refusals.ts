import { headOf } from "../../chain/head.ts";
import { contextAfter, failureOf } from "../../chain/position.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { WaitingTask } from "../../ports/tasks.ts";

/** An answer that nobody asked for, or that comes too late; the message says which and what to do. */
export class AnswerRefused extends Error {
  override name = "AnswerRefused";
}

/** An answer that the task would take if it fitted: its choice, or its data. */
export class AnswerMisfit extends AnswerRefused {
  override name = "AnswerMisfit";
}

/** What an approval leaves in the context, as far as it can be read without its data. */
export interface KeptAnswer {
  choice: string;
  by: string | null;
  at: string;
  from: string | null;
}

/** Why a task whose link has an entry takes no answer any more. */
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
