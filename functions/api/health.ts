import type { ServicePorts } from "@nova/service";
import { z } from "zod";
import { named } from "./schemas/values.ts";

const Check = named("HealthCheck", {
  state: z.enum(["ok", "down"]),
  reason: z.string().optional().describe("the key that is missing or refused"),
  latency_ms: z.number(),
});

type Check = z.infer<typeof Check>;

export const Health = named("Health", {
  status: z.enum(["ok", "degraded", "down"]),
  checks: z.object({ dynamodb: Check, s3: Check, states: Check, e2b: Check, model: Check }),
});

export type Health = z.infer<typeof Health>;

/**
 * Milliseconds for which the result of the checks is cached. Callers need no key, so without the cache they could cause
 * any number of checks.
 */
const freshMs = 5_000;
const latest = new WeakMap<ServicePorts, { at: number; found: Promise<Health> }>();

/**
 * Checks the services that NOVA needs; the result is cached. NOVA is down if DynamoDB, S3 or Step Functions is down,
 * because then no run can start.
 */
export function checkHealth(ports: ServicePorts, variables: NodeJS.ProcessEnv): Promise<Health> {
  const now = ports.clock.now();
  const before = latest.get(ports);
  if (before && now - before.at < freshMs) return before.found;
  const found = look(ports, variables);
  latest.set(ports, { at: now, found });
  return found;
}

async function look(ports: ServicePorts, variables: NodeJS.ProcessEnv): Promise<Health> {
  const asked = Object.entries(probesOf(ports, variables)).map(
    async ([name, probe]) => [name, await check(ports, probe)] as const,
  );
  const checks = Object.fromEntries(await Promise.all(asked)) as Health["checks"];
  const isDown = (...names: Probed[]) => names.some((name) => checks[name].state === "down");
  const status = isDown("dynamodb", "s3", "states") ? "down" : isDown("e2b", "model") ? "degraded" : "ok";
  return { status, checks };
}

async function check({ clock }: ServicePorts, probe: () => Promise<unknown>): Promise<Check> {
  const start = clock.now();
  type Found = Omit<Check, "latency_ms">;
  const silence = new Promise<Found>((resolve) => setTimeout(() => resolve({ state: "down" }), probeMs).unref());
  const asked = probe().then(
    (): Found => ({ state: "ok" }),
    (error): Found => ({ state: "down", ...(error instanceof KeyUnusable && { reason: error.message }) }),
  );
  return { ...(await Promise.race([asked, silence])), latency_ms: clock.now() - start };
}

type Probed = keyof Health["checks"];

/**
 * Thrown if the key for E2B is missing, or if E2B refuses the key. The message is public, so it quotes no answer of
 * E2B.
 */
class KeyUnusable extends Error {
  override name = "KeyUnusable";
}

/**
 * Returns a cheap request for each service. A service works if it sends any answer, even "not found"; E2B must also
 * accept the key.
 */
function probesOf(ports: ServicePorts, variables: NodeJS.ProcessEnv): Record<Probed, () => Promise<unknown>> {
  const { OPENAI_BASE_URL = "https://api.openai.com/v1" } = variables;
  return {
    dynamodb: () => ports.keys.get("key_00000000000000000000000000"),
    s3: () =>
      ports.blobs.get({ client: "default", root: noExecution }, "0".repeat(64)).catch((error) => {
        if (error?.name !== "BlobMissing") throw error;
      }),
    states: () => ports.stateMachines.describe(machineArn(variables), noExecution),
    e2b: () => killNothing(ports, variables),
    model: () => reach(`${OPENAI_BASE_URL}/models`),
  };
}

const noExecution = "exec_health";

/** Builds the ARN of a state machine that does not exist, in the account and region of NOVA's state machines. */
function machineArn({ NOVA_STATES_ROLE_ARN = "", AWS_REGION = "us-east-1" }: NodeJS.ProcessEnv): string {
  const account = NOVA_STATES_ROLE_ARN.split(":")[4] ?? "000000000000";
  return `arn:aws:states:${AWS_REGION}:${account}:stateMachine:nova-health:1`;
}

/** Kills the sandboxes of a run that does not exist. The call changes nothing, and fails unless E2B accepts the key. */
async function killNothing({ sandboxes }: ServicePorts, { E2B_API_KEY }: NodeJS.ProcessEnv): Promise<void> {
  if (!E2B_API_KEY) throw new KeyUnusable('E2B_API_KEY is not set - see "Deploy" in the README');
  try {
    await sandboxes.killAll(noExecution);
  } catch (cause) {
    const isRefused = cause instanceof Error && cause.name === "NodeFailed";
    throw isRefused ? new KeyUnusable("E2B refuses the key in E2B_API_KEY", { cause }) : cause;
  }
}

/**
 * Sends a request without a key. Throws if the server does not answer, or answers 5xx. A refusal shows that the server
 * works.
 */
async function reach(url: string): Promise<void> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(probeMs) });
  await answer.body?.cancel();
  if (answer.status >= 500) throw new RangeError(`${url} answered ${answer.status}`);
}

export const probeMs = 2_000;
