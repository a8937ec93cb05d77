import middy from "@middy/core";
import type { Ports } from "@nova/engine";
import { logger, warmPorts } from "./app.ts";
import { warmSecrets } from "./secrets.ts";

/** What a handler needs of Lambda's context. */
export interface LambdaContext {
  awsRequestId: string;
  getRemainingTimeInMillis(): number;
}

/** Kept free at the end of a Lambda's time, so that it answers before it is stopped. */
const reserveMs = 10_000;

/** `leftMs`: milliseconds until the signal. */
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

/** The beginning of every stack, the API's too: keys are in the environment before ports are made of it. */
export function handlerStack<Event, Answer>() {
  return middy<Event, Answer, Error, LambdaContext>().before(() => warmSecrets());
}

/** The stack of a handler that nobody calls over HTTP: ports, a signal before its time is over, a log line for an error. */
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
