import { nodeIndex } from "@nova/workflow";
import type { Execution } from "../../ports/executions.ts";
import type { Ports } from "../../ports/index.ts";
import type { WaitingTask } from "../../ports/tasks.ts";
import { executionOf } from "../../protocol/status.ts";
import { AnswerRefused, runIsOver } from "./refusals.ts";
import { waitingAt } from "./waiting-task.ts";

/**
 * Names a task by its id, or as the only approval that an execution, or one node of it, has created so far. An answer
 * without the id of a task may be a repetition. So it never counts for the second approval of its name, even if only
 * that one is open.
 */
export type TaskName = { task: string } | { execution: string; node?: string };

/** Throws `AnswerRefused`, `ExecutionNotFound`. */
export async function findTask(ports: Ports, name: TaskName): Promise<WaitingTask> {
  if ("task" in name) {
    const task = await ports.tasks.find(name.task);
    if (!task) throw new AnswerRefused(`there is no task "${name.task}" - nova tasks lists the open ones`);
    return task;
  }
  const { execution, node } = name;
  const isMeant = (task: WaitingTask) => task.kind === "approval" && (node === undefined || task.node === node);
  const [task, ...others] = (await ports.tasks.ofExecution(execution)).filter(isMeant);
  if (!task) throw await notWaiting(ports, await executionOf(ports, execution), node);
  if (others.length === 0) return task;
  throw await severalAsked(ports, node === undefined ? execution : `"${node}"`, [task, ...others]);
}

/**
 * Builds a refusal that names the open tasks, and the latest decision of the others, so that a repeated answer learns
 * that it arrived before.
 */
async function severalAsked(ports: Ports, what: string, tasks: readonly WaitingTask[]): Promise<AnswerRefused> {
  const ended = tasks.filter(({ status }) => status !== "open");
  const latest = ended.toSorted((a, b) => endOf(a).localeCompare(endOf(b))).at(-1);
  const decided = latest && (await refusalOf(ports, latest));
  const over = decided && latest;
  const open = tasks.filter((task) => task !== over && (task.status === "open" || task.status === "answered"));
  if (!decided) return new AnswerRefused(`${what} waits for ${open.length} answers - ${advice(open)}`);
  if (open.length === 0) return decided;
  return new AnswerRefused(`${what} has asked ${tasks.length} times, and ${decided.message} - ${advice(open)}`);
}

function endOf({ answeredAt, expiresAt }: WaitingTask): string {
  return answeredAt ?? expiresAt;
}

/** The reason why a task takes no answer; undefined if it takes one. */
async function refusalOf(ports: Ports, task: WaitingTask): Promise<AnswerRefused | undefined> {
  try {
    await waitingAt(ports, task);
    return undefined;
  } catch (error) {
    if (error instanceof AnswerRefused) return error;
    throw error;
  }
}

/** The limit of tasks that a message names. */
const maxNamed = 10;

function advice(open: readonly WaitingTask[]): string {
  const named = open.slice(0, maxNamed).map(({ id, node }) => `${id} (${node})`);
  const more = open.length > maxNamed ? `, and ${open.length - maxNamed} more` : "";
  return `name the task to answer: ${named.join(", ")}${more}`;
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
