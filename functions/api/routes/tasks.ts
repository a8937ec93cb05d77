import type { TaskName } from "@nova/engine";
import { answer as answerTask, listTasks, type ServicePorts } from "@nova/service";
import { z } from "zod";
import { type Answer, type Asked, type Route, route } from "../http/route.ts";
import { ListQuery, listAnswer, listOf, pageQuery } from "../schemas/list.ts";
import { AnsweredTask, answeredTask, TaskAnswer, TaskItem, taskItem } from "../schemas/task.ts";
import { ExecutionId, TaskId } from "../schemas/values.ts";
import { callResumeLink } from "./resume.ts";

const answers = {
  200: { description: "answered", schema: AnsweredTask },
  409: { description: "it waits no longer: answered before, expired, or the run is over" },
};

export const list = route({
  method: "GET",
  path: "/tasks",
  summary: "What waits for somebody's answer, or for an event, oldest first",
  role: "viewer",
  query: ListQuery.extend({
    kind: z.enum(["approval", "event"]).optional().meta({ description: "absent: what people answer" }),
  }),
  answers: { 200: { description: "a page", schema: listOf(TaskItem) } },
  handle: async (ports, { by, query }) =>
    listAnswer(
      await listTasks(ports, by, { ...pageQuery(query, /^[\dTZ:.-]+#task_[0-9A-Z]{26}$/), kind: query.kind }),
      taskItem,
    ),
});

const approval = route({
  method: "POST",
  path: "/tasks/{id}",
  summary: "Answer an approval; with the token of a resume link, which needs no key, have a wait go on with the body",
  role: "runner",
  params: z.object({ id: TaskId }),
  query: z.strictObject({
    token: z.string().max(200).optional().meta({ description: "of a resume link: the body is any JSON, or nothing" }),
  }),
  body: TaskAnswer,
  exact: ["data"],
  answers: {
    ...answers,
    409: { description: `${answers[409].description}; or the link was used before` },
    410: { description: "with a token: the wait, or its run, is over" },
  },
  handle: (ports, { params: { id }, ...asked }) => answered(ports, { task: id }, asked),
});

export const answer: Route = {
  ...approval,
  serve(ports, received) {
    const { token } = received.query;
    return token === undefined ? approval.serve(ports, received) : callResumeLink(ports, received, token);
  },
};

export const answerIn = route({
  method: "POST",
  path: "/executions/{id}/answer",
  summary: "Answer the approval that an execution waits for",
  role: "runner",
  params: z.object({ id: ExecutionId }),
  body: TaskAnswer.extend({
    node: z.string().min(1).max(200).optional().meta({ description: "which one, where several wait" }),
  }),
  exact: ["data"],
  answers,
  handle: (ports, { params: { id }, ...asked }) => {
    const { node } = asked.body;
    return answered(ports, { execution: id, ...(node !== undefined && { node }) }, asked);
  },
});

async function answered(
  ports: ServicePorts,
  name: TaskName,
  { by, body: { choice, data, by: as }, once }: Pick<Asked<unknown, unknown, TaskAnswer>, "by" | "body" | "once">,
): Promise<Answer> {
  const given = { choice, ...(data && { data: data.text }), ...(as !== undefined && { as }) };
  return { status: 200, body: await once(async () => answeredTask(await answerTask(ports, by, name, given), choice)) };
}
