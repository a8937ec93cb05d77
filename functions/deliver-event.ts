import { deliverEvent } from "@nova/engine";
import { logger, warmPorts } from "./app.ts";
import { lambda } from "./lambda.ts";

/**
 * Delivers an event from EventBridge, with its whole detail, to the runs that wait for it. If the stored detail of an
 * event is missing, no run gets the event.
 */
export const handler = lambda(async (ports, event: Record<string, unknown>) => {
  const whole = await warmPorts().bus.whole(JSON.stringify(event));
  if (whole === undefined) logger.warn("the detail that an event names does not exist", { event: event.id });
  const tasks = whole === undefined ? [] : await deliverEvent(ports, whole);
  return { tasks: tasks.map(({ id }) => id) };
});
