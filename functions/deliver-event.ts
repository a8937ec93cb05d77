import { deliverEvent } from "@nova/engine";
import { logger, warmPorts } from "./app.ts";
import { lambda } from "./lambda.ts";

/** EventBridge: goes whole to the runs that wait for it. No run has waited for a detail that is not there. */
export const handler = lambda(async (ports, event: Record<string, unknown>) => {
  const whole = await warmPorts().bus.whole(JSON.stringify(event));
  if (whole === undefined) logger.warn("an event names a detail that is not there", { event: event.id });
  const tasks = whole === undefined ? [] : await deliverEvent(ports, whole);
  return { tasks: tasks.map(({ id }) => id) };
});
