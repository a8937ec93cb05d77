import middy from "@middy/core";
import type { Ports } from "@nova/engine";
import { type LambdaContext, logger, warmPorts } from "./app.ts";

/**
 * Milliseconds that a handler leaves unused at the end of the Lambda's time, so that the Lambda answers before AWS
 * stops it.
 */
const reserveMs = 10_000;

/** `leftMs` returns the milliseconds until `signal` aborts. */
type Handle<Given, Event, Answer> = (
  ports: Given,
  event: Event,
  signal: AbortSignal,
  leftMs: () => number,
) => Promise<Answer>;

/** Creates a handler that needs only the ports of the engine. */
export function lambda<Event, Answer>(handle: Handle<Ports, Event, Answer>) {
  return stackAround(warmPorts, handle);
}

/**
 * Creates the middleware of every handler, including the handler of the API. It loads secrets into the environment
 * before any port reads them.
 */
export function handlerStack<Event, Answer>() {
  return middy<Event, Answer, Error, LambdaContext>().before(() => warmSecrets());
}

/**
 * Wraps a handler that AWS invokes. The wrapper logs errors, and passes the ports and a signal that aborts before the
 * Lambda's time is over.
 */
export function stackAround<Given, Event, Answer>(ports: () => Given, handle: Handle<Given, Event, Answer>) {
  return handlerStack<Event, Answer>()
    .onError(({ error, context }) => {
      logger.warn(error?.name ?? "Error", { request: context.awsRequestId, reason: error?.message });
    })
    .handler(async (event: Event, context: LambdaContext) => {
      const time = new AbortController();
      const leftMs = () => Math.max(0, context.getRemainingTimeInMillis() - reserveMs);
      const timer = setTimeout(() => time.abort(), leftMs());
      try {
        return await handle(ports(), event, time.signal, leftMs);
      } finally {
        clearTimeout(timer);
      }
    });
}

/** Keys that a deployed function reads from Systems Manager, so that its configuration does not contain them. */
const secrets = ["E2B_API_KEY", "OPENAI_API_KEY"] as const;

/**
 * Reads parameters with an SDK that is loaded on demand. A process needs this SDK only once, and a laptop never needs
 * it.
 */
const readParameters = async (names: string[]) => (await import("@nova/aws/parameters")).readParameters(names);

/**
 * For each secret `<NAME>`, reads the parameter that the variable `<NAME>_PARAMETER` names. Copies its value to the
 * variable `<NAME>`, where SDKs read it. Logs a missing parameter.
 */
export async function loadSecrets(variables: NodeJS.ProcessEnv, read = readParameters): Promise<void> {
  const named = secrets.flatMap((name) => {
    const parameter = variables[`${name}_PARAMETER`];
    return parameter ? [{ name, parameter }] : [];
  });
  if (named.length === 0) return;
  const values = await read(named.map(({ parameter }) => parameter));
  for (const { name, parameter } of named) {
    const value = values.get(parameter);
    if (value) variables[name] = value;
    else logger.warn(`there is no parameter ${parameter} - see docs/deploy.md`, { variable: name });
  }
}

let loading: Promise<void> | undefined;

/** Loads the secrets once per process. If the load fails, the next invocation tries again. */
export function warmSecrets(): Promise<void> {
  loading ??= loadSecrets(process.env).catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}
