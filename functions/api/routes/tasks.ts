import { answer as answerTask, listTasks } from "@nova/service";
import { z } from "zod";
import { route } from "../http/route.ts";
import { ListQuery, listAnswer, listOf, pageQuery } from "../schemas/list.ts";
import { AnsweredTask, answeredTask, TaskAnswer, TaskItem, taskItem } from "../schemas/task.ts";
import { TaskId } from "../schemas/values.ts";

export const list = route({
  method: "GET",
  path: "/tasks",
  summary: "What waits for somebody's answer, oldest first",
  role: "viewer",
  query: ListQuery,
  answers: { 200: { description: "a page", schema: listOf(TaskItem) } },
  handle: async (ports, { by, query }) =>
    listAnswer(await listTasks(ports, by, pageQuery(query, /^[\dTZ:.-]+#task_[0-9A-Z]{26}$/)), taskItem),
});

export const answer = route({
  method: "POST",
  path: "/tasks/{id}",
  summary: "Answer an approval",
  role: "runner",
  params: z.object({ id: TaskId }),
  body: TaskAnswer,
  exact: ["data"],
  answers: {
    200: { description: "answered", schema: AnsweredTask },
    409: { description: "it waits no longer: answered before, expired, or the run is over" },
  },
  async handle(ports, { by, params: { id }, body: { choice, data, by: as }, once }) {
    const given = { choice, ...(data && { data: data.text }), ...(as !== undefined && { as }) };
    const answered = await once(async () => answeredTask(await answerTask(ports, by, id, given), choice));
    return { status: 200, body: answered };
  },
});
