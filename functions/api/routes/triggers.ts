import * as service from "@nova/service";
import { z } from "zod";
import { Unreadable } from "../http/errors.ts";
import { route } from "../http/route.ts";
import { LabelText } from "../schemas/execution.ts";
import { listRoute } from "../schemas/list.ts";
import { ExactObject, ExecutionId, named, Slug, TaskId, Time, viewOf, WorkflowId } from "../schemas/values.ts";

const types = ["mail", "imap", "webhook", "schedule", "event"] as const;

const DeliveryItem = named("Delivery", {
  id: z.string(),
  at: Time,
  type: z.enum(types),
  workflow: z.string().nullable().describe("null: unknown, as for a mail to an unknown address"),
  trigger: z.string().nullable(),
  client_slug: z.string().nullable(),
  from: z.string(),
  about: z.string(),
  dedupe: z.string().describe("id that repetitions of a delivery share"),
  status: z.enum(service.deliveryStatuses),
  execution_id: z.string().nullable(),
  reason: z.string().nullable().describe("the reason why there is no run"),
  labels: z.record(z.string(), z.string()).describe("labels of the run"),
});

const ScheduleItem = named("Schedule", {
  workflow: WorkflowId,
  trigger: z.string().describe("its id in the workflow"),
  client_slug: Slug.nullable(),
  expression: z.string().describe("as EventBridge Scheduler writes it: `cron(0 8 ? * MON-FRI *)`"),
  timezone: z.string(),
  next_at: Time.nullable().describe("null while it is paused, or if it never fires again"),
  paused_at: Time.nullable().describe("start of the pause of it or its workflow; null: not paused"),
});

function scheduleItem(schedule: service.ShownSchedule) {
  const { id, client, timezone = "UTC" } = schedule.trigger;
  return viewOf(ScheduleItem, schedule, { trigger: id, client_slug: client, timezone });
}

const EventRequest = z.strictObject({
  source: z.string().min(1).max(256).describe("its source, such as `shop.orders`"),
  type: z.string().min(1).max(128).describe("its type, such as `OrderPaid`"),
  detail: ExactObject.optional().describe("its data"),
  on_bus: z
    .boolean()
    .optional()
    .describe(
      "puts it on the bus: triggers receive it, too, and `items` is empty, since the request does not wait for them",
    ),
});

const TakenEvent = named("TakenEvent", {
  event_id: z.string(),
  items: z.array(z.object({ task_id: TaskId, execution_id: ExecutionId, node: z.string() })),
});

const params = z.object({ id: WorkflowId, trigger: z.string().min(1).max(64) });

export const schedules = listRoute("/schedules", {
  summary: "Schedules of active versions by workflow, each with its next time",
  role: "viewer",
  query: { workflow: WorkflowId.optional() },
  item: ScheduleItem,
  cursor: /^[a-z0-9-]{1,64}\/.{1,64}$/,
  list: (ports, { by, query, page }) => service.listSchedules(ports, by, { ...page, ...query }),
  show: scheduleItem,
});

const pausing = (action: "pause" | "resume", summary: string, description: string) =>
  route(`POST /workflows/{id}/schedules/{trigger}/${action}`, {
    summary,
    role: "editor",
    params,
    answers: { 200: { description, schema: ScheduleItem } },
    async handle(ports, { by, params: { id: workflow, trigger: schedule } }) {
      const isPaused = action === "pause";
      return scheduleItem(await service.setSchedulePaused(ports, by, { workflow, schedule, isPaused }));
    },
  });

const pauseSummary = "Let the times of a schedule pass, whatever is published, until it is resumed";
export const pause = pausing("pause", pauseSummary, "paused");
export const resume = pausing("resume", "End the pause of a schedule", "not paused, unless its workflow is");

export const deliveries = listRoute("/deliveries", {
  summary:
    "Deliveries to triggers, newest first: mails, requests, times, events, with their run or the reason of the refusal",
  role: "viewer",
  query: {
    workflow: WorkflowId.optional(),
    client: Slug.optional(),
    status: z.enum(service.deliveryStatuses).optional(),
    label: LabelText.optional(),
  },
  item: DeliveryItem,
  cursor: /^dlv_[0-9A-Z]{26}$/,
  list: (ports, { by, query, page }) => service.listLabelledDeliveries(ports, by, { ...page, ...query }),
  show: (delivery) =>
    viewOf(DeliveryItem, delivery, { client_slug: delivery.client, execution_id: delivery.execution }),
});

export const emit = route("POST /events", {
  summary: "Give an event to the runs that wait for it, or put it on the bus; needs a key for all clients",
  role: "runner",
  body: EventRequest,
  exact: ["detail"],
  answers: { 200: { description: "the tasks that waited for it", schema: TakenEvent } },
  async handle(ports, { by, body: { source, type, detail, on_bus }, once }) {
    const event = { source, type, detail: detail?.text ?? "{}" };
    // Only NOVA may set `nova_detail`: it names the stored detail of an event that is too large for the bus.
    if (Object.hasOwn(JSON.parse(event.detail), "nova_detail")) {
      const reserved = "detail.nova_detail is reserved for NOVA";
      throw new Unreadable(400, `${reserved} - give it another name`);
    }
    return once(async () => {
      if (on_bus) return { event_id: await service.putEvent(ports, by, event), items: [] };
      const { id, tasks } = await service.emit(ports, by, event);
      const items = tasks.map((task) => ({ task_id: task.id, execution_id: task.execution, node: task.node }));
      return { event_id: id, items };
    });
  },
});
