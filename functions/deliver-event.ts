import { deliverEvent } from "@nova/engine";
import { warmPorts } from "./app.ts";
import { lambda } from "./lambda.ts";

/** EventBridge: whatever the rule lets through goes, with its whole detail, to the runs that wait for it. */
export const handler = lambda(async (ports, event: object) => {
  const tasks = await deliverEvent(ports, await warmPorts().bus.whole(JSON.stringify(event)));
  return { tasks: tasks.map(({ id }) => id) };
});
