import type { ShownSchedule } from "@nova/service";
import { z } from "zod";
import { Slug, Time, WorkflowId } from "./values.ts";

export const ScheduleItem = z
  .object({
    workflow: WorkflowId,
    trigger: z.string().meta({ description: "its id in the workflow" }),
    client_slug: Slug.nullable(),
    expression: z.string().meta({ description: "as EventBridge Scheduler writes it: `cron(0 8 ? * MON-FRI *)`" }),
    timezone: z.string(),
    next_at: Time.nullable().meta({ description: "null while it is paused, and where it is never due again" }),
    paused_at: Time.nullable().meta({ description: "since when it or its workflow is paused; null: it is not" }),
  })
  .meta({ id: "Schedule" });

export function scheduleItem({ workflow, trigger, expression, nextAt, pausedAt }: ShownSchedule) {
  const { id, client = null, timezone = "UTC" } = trigger;
  return { workflow, trigger: id, client_slug: client, expression, timezone, next_at: nextAt, paused_at: pausedAt };
}
