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
  /** The advice at the end of a refusal. It says how the operator can allow another host name. */
  hostAdvice?: string | undefined;
  /** Receives each error that a Lambda throws. The client learns only that an error occurred. */
  onFailure?: (error: unknown) => void;
  /** Answers the requests that are not for the Lambda. Returns false for a request that is for the Lambda. */
  pages?: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
}

/** An open HTTP API. Its `close` waits until all requests under way have been answered. */
export type HttpApi = Listening;

/** API Gateway, "Quotas for HTTP APIs": payload 10 MB, integration timeout 30 s. */
const maxBytes = 10 * 1024 * 1024;
const integrationMs = 30_000;

/** Opens an HTTP API of API Gateway with one Lambda for all routes (`$default`). Rejects if the port is taken. */
export async function openHttpApi(options: HttpApiOptions): Promise<HttpApi> {
  const { port = 0, pages, hosts = [], hostAdvice } = options;
  const listener: RequestListener = (request, response) => {
    if (pages?.(request, response)) return;
    invokeHandler(request, options).then(
      (answer) => {
        // While the server closes, it also closes this connection, because the client could send another request on it.
        if (!server.listening) response.setHeader("connection", "close");
        send(response, answer);
      },
      () => response.destroy(), // The client closed the connection before it had sent the whole request.
    );
  };
  const server = httpServer(listener, { hosts, hostAdvice });
  return openServer(server, { port });
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
