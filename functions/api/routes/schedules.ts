import { listSchedules, pauseSchedule, resumeSchedule } from "@nova/service";
import { z } from "zod";
import { route } from "../http/route.ts";
import { ListQuery, listAnswer, listOf, pageQuery } from "../schemas/list.ts";
import { ScheduleItem, scheduleItem } from "../schemas/schedule.ts";
import { WorkflowId } from "../schemas/values.ts";

const params = z.object({ id: WorkflowId, trigger: z.string().min(1).max(64) });

export const list = route({
  method: "GET",
  path: "/schedules",
  summary: "Schedules of active versions by workflow, each with its next time",
  role: "viewer",
  query: ListQuery.extend({ workflow: WorkflowId.optional() }),
  answers: { 200: { description: "a page", schema: listOf(ScheduleItem) } },
  async handle(ports, { by, query: { workflow, ...query } }) {
    const page = { ...pageQuery(query, /^[a-z0-9-]{1,64}\/.{1,64}$/), ...(workflow !== undefined && { workflow }) };
    return listAnswer(await listSchedules(ports, by, page), scheduleItem);
  },
});

export const pause = route({
  method: "POST",
  path: "/workflows/{id}/schedules/{trigger}/pause",
  summary: "Let the times of a schedule pass, whatever is published, until it is resumed",
  role: "editor",
  params,
  answers: { 200: { description: "paused", schema: ScheduleItem } },
  async handle(ports, { by, params: { id, trigger } }) {
    return { status: 200, body: scheduleItem(await pauseSchedule(ports, by, id, trigger)) };
  },
});

export const resume = route({
  method: "POST",
  path: "/workflows/{id}/schedules/{trigger}/resume",
  summary: "End the pause of a schedule",
  role: "editor",
  params,
  answers: { 200: { description: "not paused, unless its workflow is", schema: ScheduleItem } },
  async handle(ports, { by, params: { id, trigger } }) {
    return { status: 200, body: scheduleItem(await resumeSchedule(ports, by, id, trigger)) };
  },
});
