import middy from "@middy/core";
import type { Ports } from "@nova/engine";
import { logger, warmPorts } from "./app.ts";
import { warmSecrets } from "./secrets.ts";

/** The part of Lambda's context that handlers use. */
export interface LambdaContext {
  awsRequestId: string;
  getRemainingTimeInMillis(): number;
}

/** Reserved at the end of a Lambda's time, so that it answers before AWS stops it. */
const reserveMs = 10_000;

/** `leftMs` returns the milliseconds until `signal` aborts. */
type Handle<Given, Event, Answer> = (
  ports: Given,
  event: Event,
  signal: AbortSignal,
  leftMs: () => number,
) => Promise<Answer>;

/** A handler of the engine. */
export function lambda<Event, Answer>(handle: Handle<Ports, Event, Answer>) {
  return stackAround(warmPorts, handle);
}

/** The start of every stack, also the API's: it loads secrets into the environment before ports read it. */
export function handlerStack<Event, Answer>() {
  return middy<Event, Answer, Error, LambdaContext>().before(() => warmSecrets());
}

/** The stack of handlers that AWS invokes: ports, a signal before the time is over, a log line for an error. */
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
