import { randomUUID } from "node:crypto";
import { Capacity } from "@nova/aws-local";
import type { HttpApiHandler } from "@nova/aws-local/http-api";

/** Requests at work at once. */
const mostRequests = 8;
/** A request that takes longer waits for a model or a run, and keeps no other request waiting. */
const longMs = 500;

/**
 * AWS has a Lambda for each request; here they share a process. So few are at work at once, and senders take turns: a sender of a hundred requests at once waits, and not everybody else. The time limit of a request begins with its turn.
 */
export function inTurns(handler: HttpApiHandler, capacity = new Capacity<object>(mostRequests)): HttpApiHandler {
  return async (event, context) => {
    const { headers, requestContext, rawQueryString } = event;
    // It waits for the end of a run, and does little meanwhile.
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
