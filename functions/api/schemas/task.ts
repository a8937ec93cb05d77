import type { Answered, WaitingTask } from "@nova/engine";
import { z } from "zod";
import { ExactValue, ExecutionId, Name, TaskId, Time, WorkflowId } from "./values.ts";

export const TaskItem = z
  .object({
    task_id: TaskId,
    execution_id: ExecutionId,
    workflow: WorkflowId,
    node: z.string(),
    message: z.string(),
    choices: z.array(z.string()),
    to: z.array(z.string()),
    form: z.looseObject({}).nullable().meta({ description: "JSON schema of the data that comes with an answer" }),
    created_at: Time,
    expires_at: Time,
  })
  .meta({ id: "Task" });

export const TaskAnswer = z.strictObject({
  choice: z.string().min(1).max(200),
  data: ExactValue.optional().meta({ description: "what the form asks for" }),
  by: Name.optional().meta({ description: "who answers; absent: the name of the key" }),
});

export const AnsweredTask = z
  .object({
    task_id: TaskId,
    execution_id: ExecutionId,
    node: z.string(),
    choice: z.string(),
    at: Time,
    sent: z.boolean().meta({ description: "false: kept, and handed to Step Functions by the next sweep" }),
  })
  .meta({ id: "AnsweredTask" });

export function taskItem({ id, execution, workflowId, node, message, choices, to, form, ...rest }: WaitingTask) {
  return {
    task_id: id,
    execution_id: execution,
    workflow: workflowId,
    node,
    message,
    choices,
    to,
    form: form ?? null,
    created_at: rest.createdAt,
    expires_at: rest.expiresAt,
  };
}

export function answeredTask({ task, at, sent }: Answered, choice: string) {
  return { task_id: task.id, execution_id: task.execution, node: task.node, choice, at, sent };
}
