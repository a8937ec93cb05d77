import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request that a local endpoint has answered. */
export interface AnsweredRequest {
  port: number;
  request: Pick<IncomingMessage, "method" | "url" | "headers">;
  status: number;
  /** The body where it is JSON, which may name an execution; of bytes only their number is of interest. */
  json: string;
}

interface ServerMessage {
  request: IncomingMessage;
  response: ServerResponse;
  server: Server;
}

/**
 * Sees every request to the servers of this process, through the channels that Node publishes on: so the endpoints
 * need to know nothing of being counted, and nothing is between them and their clients. Answers how to stop.
 */
export function tapRequests(onAnswered: (answered: AnsweredRequest) => void): () => void {
  const bodies = new WeakMap<IncomingMessage, Buffer[]>();
  const onStart = (message: unknown) => {
    const { request } = message as ServerMessage;
    if (isJson(request)) bodies.set(request, copyBody(request));
  };
  const onFinish = (message: unknown) => {
    const { request, response, server } = message as ServerMessage;
    const { port } = (server.address() ?? { port: 0 }) as AddressInfo;
    const json = Buffer.concat(bodies.get(request) ?? []).toString();
    onAnswered({ port, request, status: response.statusCode, json });
  };
  subscribe("http.server.request.start", onStart);
  subscribe("http.server.response.finish", onFinish);
  return () => {
    unsubscribe("http.server.request.start", onStart);
    unsubscribe("http.server.response.finish", onFinish);
  };
}

function isJson({ headers }: IncomingMessage): boolean {
  return /^application\/(x-amz-json|json)/.test(headers["content-type"] ?? "");
}

/** Copies what arrives without reading the stream: a second reader would take the body from the first. */
function copyBody(request: IncomingMessage): Buffer[] {
  const chunks: Buffer[] = [];
  const push = request.push;
  request.push = (chunk, encoding) => {
    if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    return push.call(request, chunk, encoding);
  };
  return chunks;
}
