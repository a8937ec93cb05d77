import { randomUUID } from "node:crypto";
import { Capacity } from "@nova/aws-local";
import type { HttpApiHandler } from "@nova/aws-local/http-api";

/** The number of requests that work at the same time. */
const maxRequests = 8;
/** After this time a request counts as waiting for a model or a run, and no longer blocks others. */
const longMs = 500;

/**
 * Limits how many requests work at the same time: on AWS each request has its own Lambda, here all share one process.
 * Senders take turns, so a sender of a hundred requests does not delay the others. The time limit of a request starts
 * with its turn.
 */
export function limitConcurrency(
  handler: HttpApiHandler,
  capacity = new Capacity<object>(maxRequests),
): HttpApiHandler {
  return async (event, context) => {
    const { headers, requestContext, rawQueryString } = event;
    // A request with `wait` waits for the end of a run, and does little work.
    if (/(?:^|&)wait=/.test(rawQueryString)) return handler(event, context);
    const owner = headers.authorization ?? requestContext.http.sourceIp;
    const arrived = Date.now();
    await capacity.enter(context, { owner, work: randomUUID(), since: arrived });
    const waitedMs = Date.now() - arrived;
    const timer = setTimeout(() => capacity.leave(context), longMs).unref();
    const getRemainingTimeInMillis = () => context.getRemainingTimeInMillis() + waitedMs;
    try {
      return await handler(event, { ...context, getRemainingTimeInMillis });
    } finally {
      clearTimeout(timer);
      capacity.leave(context);
    }
  };
}
