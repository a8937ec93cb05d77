import { type StackContext, use } from "sst/constructs";
import { engine } from "./engine.ts";
import { createAlarms } from "./monitoring/alarms.ts";
import { createDashboard } from "./monitoring/dashboard.ts";
import { createMetrics } from "./monitoring/metrics.ts";
import { storage } from "./storage.ts";
import { withoutCustomResources } from "./without-custom-resources.ts";

/** What people look at, and what wakes them. */
export function monitoring({ stack }: StackContext): void {
  withoutCustomResources(stack);
  const watched = { ...use(storage), ...use(engine) };
  const metrics = createMetrics(stack, watched);
  createAlarms(stack, metrics, process.env.NOVA_ALARM_MAIL);
  createDashboard(stack, metrics);
}
