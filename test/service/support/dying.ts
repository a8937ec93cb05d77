import type { ServicePorts } from "@nova/service";

/** Calls that change something, or look at what others change. */
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

/** Ports of a process that dies at its call `at`: before it is done, or behind that. It does nothing any more then. */
export function dyingAt(ports: ServicePorts, at: number, when: "before" | "behind"): ServicePorts {
  let calls = 0;
  const counting = <T extends object>(port: T): T =>
    new Proxy(port, {
      get(target, name) {
        const call = Reflect.get(target, name);
        if (typeof call !== "function") return call;
        return async (...args: unknown[]) => {
          calls += 1;
          if (calls < at) return call.apply(target, args);
          if (calls === at && when === "behind") await call.apply(target, args);
          throw new RangeError("the process died");
        };
      },
    });
  return { ...ports, ...Object.fromEntries(counted.map((name) => [name, counting(ports[name])])) };
}
