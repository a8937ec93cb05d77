import { deliverEvent } from "@nova/engine";
import { logger, warmPorts } from "./app.ts";
import { lambda } from "./lambda.ts";

/**
 * EventBridge: whatever the rule lets through goes, with its whole detail, to the runs that wait for it. One that names a
 * detail which is not there is nobody's: no run has waited for what cannot be read.
 */
export const handler = lambda(async (ports, event: Record<string, unknown>) => {
  const whole = await warmPorts().bus.whole(JSON.stringify(event));
  if (whole === undefined) logger.warn("an event names a detail that is not there", { event: event.id });
  const tasks = whole === undefined ? [] : await deliverEvent(ports, whole);
  return { tasks: tasks.map(({ id }) => id) };
});
