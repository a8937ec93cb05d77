import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { httpServer, type Listening, openServer, readBody } from "@nova/serve-local";
import { PAYLOAD_LIMIT_BYTES } from "../lambda/lambda-runtime.ts";
import { eventOf, gatewayAnswer, type HttpApiAnswer, type HttpApiEvent, send } from "./payload.ts";

export type { HttpApiAnswer, HttpApiEvent };

/** A Lambda that an HTTP API calls. */
export type HttpApiHandler = (
  event: HttpApiEvent,
  context: { awsRequestId: string; getRemainingTimeInMillis(): number },
) => Promise<HttpApiAnswer>;

export interface HttpApiOptions {
  handler: HttpApiHandler;
  /** The port; absent or 0: any free port. */
  port?: number;
  /** Host names that requests may carry, in addition to loopback names. */
  hosts?: readonly string[];
  /** How the operator allows another host name. */
  hostAdvice?: string | undefined;
  /** Receives the error of a Lambda: the caller learns only that one occurred. */
  onFailure?: (error: unknown) => void;
  /**
   * Called with path and query of each request. The returned function is called once the request is answered, or takes
   * long.
   */
  onRequest?: (address: string) => (() => void) | undefined;
  /** Serves requests that are not for the Lambda; returns false for the others. */
  pages?: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
}

/** Closing waits until all requests under way are answered. */
export type HttpApi = Listening;

/** API Gateway, "Quotas for HTTP APIs": payload 10 MB, integration timeout 30 s. */
const maxBytes = 10 * 1024 * 1024;
const integrationMs = 30_000;

/** Opens an HTTP API of API Gateway with one Lambda for all routes (`$default`). Rejects if the port is taken. */
export async function openHttpApi(options: HttpApiOptions): Promise<HttpApi> {
  const { port = 0, pages, hosts = [], hostAdvice } = options;
  const listener: RequestListener = (request, response) => {
    if (pages?.(request, response)) return;
    serve(request, options).then(
      (answer) => {
        // A connection that stays open would bring a request after the server has started to close.
        if (!server.listening) response.setHeader("connection", "close");
        send(response, answer);
      },
      () => response.destroy(), // the caller left before it had sent everything
    );
  };
  const server = httpServer(listener, { hosts, hostAdvice });
  return openServer(server, { port });
}

/** A sender that is slower counts as a long request. */
const longMs = 500;

async function serve(request: IncomingMessage, options: HttpApiOptions): Promise<HttpApiAnswer> {
  const done = options.onRequest?.(request.url ?? "");
  if (!done) return invokeHandler(request, options);
  const over = Promise.withResolvers<void>();
  over.promise.then(done);
  const timer = setTimeout(over.resolve, longMs).unref();
  try {
    return await invokeHandler(request, options);
  } finally {
    clearTimeout(timer);
    over.resolve();
  }
}

async function invokeHandler(request: IncomingMessage, { handler, onFailure }: HttpApiOptions): Promise<HttpApiAnswer> {
  const body = await readBody(request, maxBytes);
  if (!body) return gatewayAnswer(413, "Request Too Long");
  const [awsRequestId, began] = [randomUUID(), Date.now()];
  const context = { awsRequestId, getRemainingTimeInMillis: () => integrationMs - (Date.now() - began) };
  try {
    return checkPayload(await handler(eventOf(request, body, awsRequestId, began), context));
  } catch (error) {
    onFailure?.(error);
    return gatewayAnswer(500, "Internal Server Error");
  }
}

function checkPayload(answer: HttpApiAnswer): HttpApiAnswer {
  const bytes = Buffer.byteLength(JSON.stringify(answer));
  if (bytes <= PAYLOAD_LIMIT_BYTES) return answer;
  throw new RangeError(`the answer has ${bytes} bytes as JSON, and AWS Lambda takes ${PAYLOAD_LIMIT_BYTES}`);
}
