import { membersOf, objectText } from "@nova/engine";
import { type EventTrigger, type ScheduleTrigger, textOfJson } from "@nova/workflow";
import { defaultClient } from "../ports/clients.ts";
import type { Delivery } from "../ports/deliveries.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { TriggerName } from "../ports/triggers.ts";
import { pauseOf } from "../workflows/find.ts";
import { ownKey } from "./key.ts";
import { type Arrival, recordUnstarted, startFromTrigger } from "./start.ts";

const detailGone =
  "its detail is not where nova_detail says that it lies - put the event again, by POST /events or nova event put";

/** That a schedule is due (ISO 8601), or an event as EventBridge has it. */
export type Firing = TriggerName &
  ({ scheduled_at: string } | { event: { id: string; source: string; "detail-type": string } });

/** What came of it; `ignored`: there is no such trigger any more. */
export type Fired = Pick<Delivery, "execution" | "reason"> & { status: Delivery["status"] | "ignored" };

/**
 * A schedule or a rule has fired: starts the one run of this time, or of this event. A rule that is being removed may
 * fire for a while; nobody waits for that.
 */
export async function fireTrigger(ports: ServicePorts, firing: Firing): Promise<Fired> {
  const live = await ports.triggers.get(ownKey(firing.workflow, firing.trigger));
  const trigger = live?.trigger;
  if (trigger?.type === "schedule" && "scheduled_at" in firing) {
    return onSchedule(ports, firing.workflow, trigger, firing.scheduled_at);
  }
  if (trigger?.type === "event" && "event" in firing) {
    return onEvent(ports, firing.workflow, trigger, firing.event);
  }
  const reason = `workflow "${firing.workflow}" has no trigger "${firing.trigger}" that this could be for`;
  return { status: "ignored", execution: null, reason };
}

/** A time that comes while it is paused passes: nobody wants all of them at once when it goes on. */
async function onSchedule(
  ports: ServicePorts,
  workflow: string,
  trigger: ScheduleTrigger,
  at: string,
): Promise<Delivery> {
  const arrival = arrivalAt(workflow, trigger, at);
  const state = await ports.workflowStates.get(workflow);
  const { client = defaultClient, dedupe, from, about = "" } = arrival;
  const known = { type: trigger.type, trigger: trigger.id, workflow, client, dedupe, from, about };
  if (pauseOf(state))
    return recordUnstarted(ports, known, `workflow "${workflow}" is paused - nova resume ${workflow}`);
  if (!pauseOf(state, trigger.id)) return startFromTrigger(ports, arrival);
  const wayOut = `nova schedules resume ${workflow} ${trigger.id}`;
  return recordUnstarted(ports, known, `schedule "${trigger.id}" is paused - ${wayOut}`);
}

function arrivalAt(workflow: string, trigger: ScheduleTrigger, at: string): Arrival {
  const schedule = JSON.stringify({ trigger: trigger.id, scheduled_at: at });
  const own = membersOf(textOfJson(trigger.context ?? {})).filter(({ key }) => key !== "schedule");
  return {
    ...{ workflow, trigger, dedupe: at, from: "schedule", about: at },
    ...(trigger.client !== undefined && { client: trigger.client }),
    context: objectText([...own, { key: "schedule", json: schedule }]),
  };
}

/** An event of any size: what EventBridge could not carry is fetched, and a run's context has no limit. */
async function onEvent(
  ports: ServicePorts,
  workflow: string,
  trigger: EventTrigger,
  event: { id: string; source: string; "detail-type": string },
): Promise<Fired> {
  const { client = defaultClient } = trigger;
  const known = { workflow, client, dedupe: event.id, from: event.source, about: event["detail-type"] };
  const whole = await ports.bus.whole(JSON.stringify(event));
  if (whole !== undefined) return startFromTrigger(ports, { ...known, trigger, context: `{"event":${whole}}` });
  return recordUnstarted(ports, { ...known, type: trigger.type, trigger: trigger.id }, detailGone);
}
