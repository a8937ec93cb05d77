import type { ServicePorts } from "@nova/service";

/** The ports that read or change stored state. `dyingAt` counts their calls. */
const counted = [
  "triggers",
  "schedules",
  "eventRules",
  "workflowStates",
  "workflows",
  "credentialStore",
  "audit",
  "publications",
] as const;

/**
 * Returns the ports of a process that dies at its call number `at`. This call takes effect, but its result is lost.
 * Later calls fail without effect.
 */
export function dyingAt(ports: ServicePorts, at: number): ServicePorts {
  let calls = 0;
  const counting = <T extends object>(port: T): T =>
    new Proxy(port, {
      get(target, name) {
        const call = Reflect.get(target, name);
        if (typeof call !== "function") return call;
        return async (...args: unknown[]) => {
          calls += 1;
          if (calls < at) return call.apply(target, args);
          if (calls === at) await call.apply(target, args);
          throw new RangeError("the process died");
        };
      },
    });
  return { ...ports, ...Object.fromEntries(counted.map((name) => [name, counting(ports[name])])) };
}
