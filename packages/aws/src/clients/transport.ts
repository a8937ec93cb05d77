import { AsyncLocalStorage } from "node:async_hooks";
import { channel } from "node:diagnostics_channel";
import { setImmediate } from "node:timers/promises";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import type { SFNClient } from "@aws-sdk/client-sfn";

/** A signed request of a service that speaks JSON, as it would have gone over the wire. */
export interface HandedRequest {
  method: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
}

export interface HandedAnswer {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Must not reject: what goes wrong is an answer. */
export type Answer = (request: HandedRequest) => Promise<HandedAnswer>;

/** Tells of each `HandedRequest`, as Node's own channels tell of requests that go over the wire. */
const handed = channel("nova.request.handed-over");

const offers = new Map<string, Answer>();

/** The port: a process that serves the endpoint itself offers a way without a socket. Returns how to end that. */
export function offerTransport(url: string, answer: Answer): () => void {
  const { host } = new URL(url);
  // As behind a socket: what a request sets off does not belong to the work of whoever sent it.
  const outside = AsyncLocalStorage.snapshot();
  const offer: Answer = (request) => outside(answer, request);
  offers.set(host, offer);
  return () => {
    if (offers.get(host) === offer) offers.delete(host);
  };
}

/**
 * Has requests of this client take the way that is offered for their endpoint, signed and serialised as they are: it costs
 * half of the time. Where none is offered, as in a Lambda, they go over HTTP.
 */
export function takeOffers(client: DynamoDBClient | EventBridgeClient | SFNClient): void {
  const { middlewareStack } = client as DynamoDBClient;
  middlewareStack.add(
    (next) => async (args) => {
      const request = args.request as SentRequest;
      const answer = offers.size > 0 && offers.get(`${request.hostname}:${request.port}`);
      if (!answer) return next(args);
      await setImmediate(); // as behind a socket: whoever sends much must not keep timers and others waiting
      const { method, headers, body } = request;
      const handing: HandedRequest = { method, headers, body: textOf(body) };
      handed.publish(handing);
      const { status, ...answered } = await answer(handing);
      // Only the deserialiser follows, which looks at nothing else.
      return { response: { statusCode: status, ...answered }, output: undefined as never };
    },
    { step: "deserialize", priority: "low", name: "offeredTransport" },
  );
}

type SentRequest = Omit<HandedRequest, "body"> & { hostname: string; port?: number; body: string | Uint8Array };

function textOf(body: string | Uint8Array): string {
  return typeof body === "string" ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
}
