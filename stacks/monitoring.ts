import { api } from "./api.ts";
import { engine } from "./engine.ts";
import { createAlarms } from "./monitoring/alarms.ts";
import { createDashboard } from "./monitoring/dashboard.ts";
import { createMetrics } from "./monitoring/metrics.ts";
import { type StackContext, use } from "./sst.ts";
import { storage } from "./storage.ts";
import { triggers } from "./triggers.ts";

/** The dashboard and the alarms. */
export function monitoring({ stack }: StackContext): void {
  const { logs, undelivered, ...running } = use(engine);
  const { unpublished, ...begun } = use(triggers);
  const { http, ...asked } = use(api);
  const functions = { ...running.functions, ...begun.functions, ...asked.functions };
  const metrics = createMetrics(stack, { ...use(storage), functions, logs, undelivered, unpublished, http });
  createAlarms(stack, metrics, process.env.NOVA_ALARM_MAIL);
  createDashboard(stack, metrics);
}
