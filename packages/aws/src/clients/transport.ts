import { AsyncLocalStorage } from "node:async_hooks";
import { channel } from "node:diagnostics_channel";
import { setImmediate } from "node:timers/promises";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import type { SFNClient } from "@aws-sdk/client-sfn";

/** A signed and serialised request to a service with a JSON protocol. */
export interface HandedRequest {
  method: string;
  /** Header names are in lower case. */
  headers: Record<string, string>;
  body: string;
}

export interface HandedAnswer {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Answers a request. It never rejects: an error is an answer with an error status. */
export type Answer = (request: HandedRequest) => Promise<HandedAnswer>;

/** Publishes each `HandedRequest`, as Node's own channels publish HTTP requests. */
const handed = channel("nova.request.handed-over");

const offers = new Map<string, Answer>();

/**
 * Offers clients of this process a transport without a socket to the endpoint at `url`, which runs in the same process.
 * Returns a function that ends the offer.
 */
export function offerTransport(url: string, answer: Answer): () => void {
  const { host } = new URL(url);
  // Keeps the sender's async context away from the server, as a socket does.
  const runInServerContext = AsyncLocalStorage.snapshot();
  const offer: Answer = (request) => runInServerContext(answer, request);
  offers.set(host, offer);
  return () => {
    if (offers.get(host) === offer) offers.delete(host);
  };
}

/**
 * Sends a client's requests through the transport that is offered for their endpoint, which takes half the time of
 * HTTP. Without an offer, as in a Lambda, requests use HTTP.
 */
export function useOfferedTransport(client: DynamoDBClient | EventBridgeClient | SFNClient): void {
  const { middlewareStack } = client as DynamoDBClient;
  middlewareStack.add(
    (next) => async (args) => {
      const request = args.request as SentRequest;
      const answer = offers.size > 0 && offers.get(`${request.hostname}:${request.port}`);
      if (!answer) return next(args);
      await setImmediate(); // lets timers and other work run, as a socket does
      const { method, headers, body } = request;
      const handing: HandedRequest = { method, headers, body: textOf(body) };
      handed.publish(handing);
      const { status, ...answered } = await answer(handing);
      // The only middleware after this one is the deserialiser, which reads `response` and ignores `output`.
      return { response: { statusCode: status, ...answered }, output: undefined as never };
    },
    { step: "deserialize", priority: "low", name: "offeredTransport" },
  );
}

type SentRequest = Omit<HandedRequest, "body"> & { hostname: string; port?: number; body: string | Uint8Array };

function textOf(body: string | Uint8Array): string {
  return typeof body === "string" ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
}
