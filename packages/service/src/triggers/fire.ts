import { membersOf, objectText } from "@nova/engine";
import { type EventTrigger, type ScheduleTrigger, textOfJson } from "@nova/workflow";
import type { ServicePorts } from "../ports/index.ts";
import type { Delivery, TriggerName } from "../ports/triggers.ts";
import { pauseOf } from "../workflows/find.ts";
import { describeTrigger, type FoundTrigger, findTrigger, recordRefusedDelivery, startFromTrigger } from "./start.ts";
import { ownKey } from "./sync.ts";

const detailGone =
  "its detail is not where nova_detail says that it lies - put the event again, by POST /events or nova event put";

/** A due schedule with its time (ISO 8601), or an event in EventBridge's shape. */
export type Firing = TriggerName &
  ({ scheduled_at: string } | { event: { id: string; source: string; "detail-type": string } });

/** The result of a firing. `ignored`: the trigger no longer exists. */
export type FiringResult = Pick<Delivery, "execution" | "reason"> & { status: Delivery["status"] | "ignored" };

/**
 * Starts a run for the scheduled time or the event, once. Ignores a firing whose trigger no longer exists, since a rule
 * may still fire while it is being removed.
 */
export async function fireTrigger(ports: ServicePorts, firing: Firing): Promise<FiringResult> {
  const key = ownKey(firing.workflow, firing.trigger);
  if ("scheduled_at" in firing) {
    const place = await findTrigger(ports, key, "schedule");
    if (place) return onSchedule(ports, place, firing.scheduled_at);
  } else {
    const place = await findTrigger(ports, key, "event");
    if (place) return onEvent(ports, place, firing.event);
  }
  const reason = `workflow "${firing.workflow}" has no trigger "${firing.trigger}" that this could be for`;
  return { status: "ignored", execution: null, reason };
}

/**
 * Starts a run, or records a refusal while the schedule is paused. The schedule skips times during a pause, and does
 * not repeat them later.
 */
async function onSchedule(ports: ServicePorts, place: FoundTrigger<ScheduleTrigger>, at: string): Promise<Delivery> {
  const { workflow, trigger } = place;
  const { id, context = {} } = trigger;
  const state = await ports.workflowStates.get(workflow);
  const known = { ...describeTrigger(place), dedupe: at, from: "schedule", about: at };
  if (pauseOf(state))
    return recordRefusedDelivery(ports, known, `workflow "${workflow}" is paused - nova resume ${workflow}`);
  if (pauseOf(state, id)) {
    const wayOut = `nova schedules resume ${workflow} ${id}`;
    return recordRefusedDelivery(ports, known, `schedule "${id}" is paused - ${wayOut}`);
  }
  const own = membersOf(textOfJson(context)).filter(({ key }) => key !== "schedule");
  const schedule = { key: "schedule", json: JSON.stringify({ trigger: id, scheduled_at: at }) };
  return startFromTrigger(ports, { ...known, context: objectText([...own, schedule]) });
}

/** Starts a run with the whole event. The bus returns details of any size, and a run's context has no limit. */
async function onEvent(
  ports: ServicePorts,
  place: FoundTrigger<EventTrigger>,
  event: { id: string; source: string; "detail-type": string },
): Promise<FiringResult> {
  const about = event["detail-type"];
  const known = { ...describeTrigger(place), dedupe: event.id, from: event.source, about };
  const whole = await ports.bus.whole(JSON.stringify(event));
  if (whole === undefined) return recordRefusedDelivery(ports, known, detailGone);
  return startFromTrigger(ports, { ...known, context: `{"event":${whole}}` });
}
