import type { WarmPool } from "../../ports/process-memory.ts";
import type { Sandbox } from "../../ports/sandboxes.ts";

/** A map of a thousand items needs a handful. What is forgotten dies by its lifetime, or with its execution. */
export function createWarmPool(): WarmPool {
  const idle = new Map<string, Sandbox[]>();
  return {
    offer(execution, sandbox) {
      const others = (idle.get(execution) ?? []).filter(({ id }) => id !== sandbox.id);
      idle.set(execution, [...others, sandbox]);
    },
    take(execution) {
      const list = idle.get(execution);
      const sandbox = list?.pop();
      if (list?.length === 0) idle.delete(execution);
      return sandbox;
    },
    takeAll(execution) {
      const list = idle.get(execution) ?? [];
      idle.delete(execution);
      return list;
    },
    forgetDead(nowMs) {
      for (const [execution, list] of idle) {
        const alive = list.filter(({ endsAt }) => Date.parse(endsAt) > nowMs);
        if (alive.length > 0) idle.set(execution, alive);
        else idle.delete(execution);
      }
    },
  };
}
