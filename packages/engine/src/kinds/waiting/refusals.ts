import { nodeIndex } from "@nova/workflow";
import { headOf } from "../../chain/head.ts";
import { contextAfter, failureOf } from "../../chain/position.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Execution } from "../../ports/executions.ts";
import type { Ports } from "../../ports/index.ts";
import type { WaitingTask } from "../../ports/tasks.ts";
import { executionOf } from "../../protocol/status.ts";

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
  return new AnswerRefused(`"${task.node}" was answered before: ${choice}, by ${by} at ${at} (${from})`);
}

export function runIsOver({ execution }: Pick<WaitingTask, "execution">): AnswerRefused {
  return new AnswerRefused(`execution ${execution} is over - nova trace ${execution} shows how it ended`);
}

/** A task by its id, or the one that waits in an execution; where several do, at a node of it. */
export type TaskName = { task: string } | { execution: string; node?: string };

/** Tasks that a sentence names. */
const maxNamed = 10;

/** Throws `AnswerRefused`, `ExecutionNotFound`. */
export async function findTask(ports: Ports, name: TaskName): Promise<WaitingTask> {
  if ("task" in name) {
    const task = await ports.tasks.find(name.task);
    if (!task) throw new AnswerRefused(`there is no task "${name.task}" - nova tasks lists the open ones`);
    return task;
  }
  const { execution, node } = name;
  const isMeant = (task: WaitingTask) => task.kind === "approval" && (node === undefined || task.node === node);
  const tasks = (await ports.tasks.ofExecution(execution)).filter(isMeant);
  const open = tasks.filter(({ status }) => status === "open" || status === "answered");
  if (open.length > 1) throw severalWait(node === undefined ? execution : `"${node}"`, open);
  const task = open[0] ?? tasks.at(-1);
  if (task) return task;
  throw await notWaiting(ports, await executionOf(ports, execution), node);
}

function severalWait(what: string, open: readonly WaitingTask[]): AnswerRefused {
  const named = open.slice(0, maxNamed).map(({ id, node }) => `${id} (${node})`);
  const more = open.length > maxNamed ? `, and ${open.length - maxNamed} more` : "";
  return new AnswerRefused(`${what} waits for ${open.length} answers - name a task alone: ${named.join(", ")}${more}`);
}

async function notWaiting(ports: Ports, record: Execution, id: string | undefined): Promise<AnswerRefused> {
  const version = await ports.workflows.get(record.workflowId, record.version);
  const nodes = version ? Array.from(nodeIndex(version.workflow).values(), ({ node }) => node) : [];
  const approvals = nodes.flatMap((node) => (node.type === "approval" ? [node.id] : []));
  if (approvals.length === 0 || (id !== undefined && !approvals.includes(id))) {
    const advice =
      approvals.length > 0 ? `its approvals are ${approvals.map((one) => `"${one}"`).join(", ")}` : "it has none";
    const what = id === undefined ? "no approval" : `no approval "${id}"`;
    return new AnswerRefused(`workflow "${record.workflowId}" has ${what} - ${advice}`);
  }
  if (!record.open) return runIsOver({ execution: record.id });
  const what = id === undefined ? record.id : `"${id}"`;
  return new AnswerRefused(`${what} does not wait for an answer yet - nova tasks lists what does`);
}
