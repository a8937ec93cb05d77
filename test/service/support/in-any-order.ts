import type { ServicePorts } from "@nova/service";
import type { Scheduler } from "fast-check";

const interleaved = ["triggers", "schedules", "eventRules", "workflowStates", "workflows"] as const;

/** Ports whose calls return in an order that the scheduler chooses. */
export function inAnyOrder(ports: ServicePorts, scheduler: Scheduler): ServicePorts {
  const waiting = interleaved.map((name) => [name, delayed(ports[name], scheduler)]);
  return { ...ports, ...Object.fromEntries(waiting) };
}

function delayed<T extends object>(port: T, scheduler: Scheduler): T {
  return new Proxy(port, {
    get(target, name) {
      const call = Reflect.get(target, name);
      if (typeof call !== "function") return call;
      return async (...args: unknown[]) => {
        await scheduler.schedule(Promise.resolve(), String(name));
        return call.apply(target, args);
      };
    },
  });
}
