import { nodeIndex } from "@nova/workflow";
import { executionOf } from "../execution/record.ts";
import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import type { WaitingTask } from "../ports/tasks.ts";
import { AnswerRefused, runIsOver } from "./refusals.ts";

/** A task by its id, or the one that waits at a node of an execution. */
export type TaskName = { task: string } | { execution: string; node: string };

/** Throws `AnswerRefused`, `ExecutionNotFound`. */
export async function findTask(ports: Ports, name: TaskName): Promise<WaitingTask> {
  if ("task" in name) {
    const task = await ports.tasks.find(name.task);
    if (!task) throw new AnswerRefused(`there is no task "${name.task}" - nova tasks lists the open ones`);
    return task;
  }
  const tasks = (await ports.tasks.ofExecution(name.execution)).filter(
    ({ node, kind }) => node === name.node && kind === "approval",
  );
  const open = tasks.filter(({ status }) => status === "open" || status === "answered");
  if (open.length > 1) {
    const ids = open.map(({ id }) => id).join(", ");
    throw new AnswerRefused(`"${name.node}" waits ${open.length} times - name one of its tasks instead: ${ids}`);
  }
  const task = open[0] ?? tasks.at(-1);
  if (task) return task;
  throw await notWaiting(ports, await executionOf(ports, name.execution), name.node);
}

async function notWaiting(ports: Ports, record: Execution, id: string): Promise<AnswerRefused> {
  const version = await ports.workflows.get(record.workflowId, record.version);
  const nodes = version ? Array.from(nodeIndex(version.workflow).values(), ({ node }) => node) : [];
  if (!nodes.some((node) => node.id === id && node.type === "approval")) {
    const approvals = nodes.filter(({ type }) => type === "approval").map((node) => `"${node.id}"`);
    const advice = approvals.length > 0 ? `its approvals are ${approvals.join(", ")}` : "it has none";
    return new AnswerRefused(`workflow "${record.workflowId}" has no approval "${id}" - ${advice}`);
  }
  if (!record.open) return runIsOver({ execution: record.id });
  return new AnswerRefused(`"${id}" does not wait for an answer yet - nova tasks lists what does`);
}
