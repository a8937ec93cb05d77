import type { ServicePorts } from "@nova/service";
import type { Check, Health } from "../schemas/health.ts";
import { KeyUnusable, probeMs, probesOf } from "./probes.ts";

/** Anybody may ask, so a process looks no more often than that. */
const freshMs = 5_000;
const latest = new WeakMap<ServicePorts, { at: number; found: Promise<Health> }>();

/** What NOVA needs, looked at now or a moment ago. Without store, blobs and state machines no run can start. */
export function checkHealth(ports: ServicePorts, variables: NodeJS.ProcessEnv): Promise<Health> {
  const now = ports.clock.now();
  const before = latest.get(ports);
  if (before && now - before.at < freshMs) return before.found;
  const found = look(ports, variables);
  latest.set(ports, { at: now, found });
  return found;
}

async function look(ports: ServicePorts, variables: NodeJS.ProcessEnv): Promise<Health> {
  const probes = probesOf(ports, variables);
  const [dynamodb, s3, states, e2b, model] = await Promise.all([
    check(ports, probes.dynamodb),
    check(ports, probes.s3),
    check(ports, probes.states),
    check(ports, probes.e2b),
    check(ports, probes.model),
  ]);
  const isDown = [dynamodb, s3, states].some(({ state }) => state === "down");
  const isWeak = [e2b, model].some(({ state }) => state === "down");
  return { status: isDown ? "down" : isWeak ? "degraded" : "ok", checks: { dynamodb, s3, states, e2b, model } };
}

async function check({ clock }: ServicePorts, probe: () => Promise<unknown>): Promise<Check> {
  const start = clock.now();
  const silence = new Promise<Found>((resolve) => setTimeout(() => resolve({ state: "down" }), probeMs).unref());
  const asked = probe().then((): Found => ({ state: "ok" }), asFound);
  return { ...(await Promise.race([asked, silence])), latency_ms: clock.now() - start };
}

type Found = Pick<Check, "state" | "reason">;

function asFound(error: unknown): Found {
  return { state: "down", ...(error instanceof KeyUnusable && { reason: error.message }) };
}
