import { deliverEvent } from "@nova/engine";
import { lambda } from "./lambda.ts";

/** EventBridge: whatever the rule lets through goes to the runs that wait for it. */
export const handler = lambda(async (ports, event: object) => {
  const tasks = await deliverEvent(ports, JSON.stringify(event));
  return { tasks: tasks.map(({ id }) => id) };
});
