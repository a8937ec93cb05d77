import { type Answered, RawJson, type WaitingTask } from "@nova/engine";
import { textOfJson } from "@nova/workflow";
import { z } from "zod";
import { ExactValue, ExecutionId, Name, Slug, TaskId, Time, VersionNumber, WorkflowId } from "./values.ts";

export const TaskItem = z
  .object({
    task_id: TaskId,
    execution_id: ExecutionId,
    workflow: WorkflowId,
    version: VersionNumber,
    client: Slug.nullable().meta({ description: "null: it was asked by an earlier release" }),
    node: z.string(),
    message: z.string(),
    choices: z.array(z.string()),
    to: z.array(z.string()),
    form: z.looseObject({}).nullable().meta({ description: "JSON schema of the data that comes with an answer" }),
    forms: z
      .record(z.string(), z.looseObject({}))
      .nullable()
      .meta({ description: "by choice, for those that have a form of their own in the place of `form`" }),
    pattern: z.looseObject({}).nullable().meta({ description: "what an event has to be like, bound to the run" }),
    created_at: Time,
    expires_at: Time,
    mail: z
      .object({ to: z.array(z.string()), at: Time, problem: z.string().nullable() })
      .nullable()
      .meta({ description: "what became of the mail to those in `to`; null: none was tried" }),
  })
  .meta({ id: "Task" });

export const TaskAnswer = z.strictObject({
  choice: z.string().min(1).max(200),
  data: ExactValue.optional().meta({ description: "what the form asks for" }),
  by: Name.optional().meta({ description: "who answers; absent: the name of the key" }),
});

export type TaskAnswer = z.infer<typeof TaskAnswer>;

export const AnsweredTask = z
  .object({
    task_id: TaskId,
    execution_id: ExecutionId,
    node: z.string(),
    choice: z.string(),
    at: Time,
    sent: z.boolean().meta({
      description:
        "false: kept, and handed to Step Functions by the next sweep; of a resume link, until its wait begins",
    }),
  })
  .meta({ id: "AnsweredTask" });

export function taskItem(task: WaitingTask) {
  const { id, execution, workflowId, version, client = null, node, message, choices, to, form, forms, pattern } = task;
  return {
    ...{ task_id: id, execution_id: execution, workflow: workflowId, version, client, node, message, choices, to },
    ...{ form: form ?? null, forms: forms ?? null, created_at: task.createdAt, expires_at: task.expiresAt },
    pattern: pattern === undefined ? null : new RawJson(textOfJson(pattern)),
    mail: task.mail ? { ...task.mail, problem: task.mail.problem ?? null } : null,
  };
}

export function answeredTask({ task, at, sent }: Answered, choice: string) {
  return { task_id: task.id, execution_id: task.execution, node: task.node, choice, at, sent };
}
