import { once } from "node:events";
import { createServer, IncomingMessage, type RequestListener, type Server, type ServerOptions } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/**
 * Whoever stops reading it in the middle leaves the rest on its connection. Node's own iterator destroys the request
 * instead, and nothing is read from the connection any more: a client that has sent its body and got its answer sends its
 * next request on it, and waits for ever.
 */
class Received extends IncomingMessage {
  override [Symbol.asyncIterator]() {
    return this.iterator({ destroyOnReturn: false });
  }
}

export interface HttpServerOptions extends ServerOptions {
  /** Host names that requests may carry, in lower case, apart from those of loopback addresses. */
  hosts?: readonly string[];
  /** How the operator allows another host name; absent: a sentence about `hosts`. */
  hostAdvice?: string | undefined;
}

/**
 * The server of every endpoint. It refuses requests for host names of other machines with 421. A handler may answer before it has read the request's body: the rest is read and dropped,
 * so that the sender hears the answer and the connection stays of use.
 */
export function httpServer(
  listener: RequestListener,
  { hosts, hostAdvice, ...options }: HttpServerOptions = {},
): Server {
  return createServer({ ...options, IncomingMessage: Received }, (request, response) => {
    const { socket } = request;
    response.once("finish", () => {
      if (request.destroyed && !request.complete) socket.destroy();
      request.unpipe();
      if (!request.readableFlowing) request.removeAllListeners("readable").resume();
    });
    const message = refusedHost(request, hosts, hostAdvice);
    if (message === undefined) return listener(request, response);
    response.writeHead(421, { "content-type": "application/json" }).end(JSON.stringify({ message }));
  });
}

export interface Binding {
  /** 0: any that is free. */
  port?: number | undefined;
  /** Closing breaks the connections of requests that are under way; absent: it waits for their answers. */
  breaksConnections?: boolean;
}

export interface Listening {
  url: string;
  close(): Promise<void>;
}

/** Rejects where the port cannot be had. */
export async function openServer(
  server: Server,
  { port = 0, breaksConnections = false }: Binding = {},
): Promise<Listening> {
  const silent = new Set<Socket>();
  server.on("connection", (socket) => {
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
  });
  server.on("request", ({ socket }) => silent.delete(socket));
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if (breaksConnections) server.closeAllConnections();
        else server.closeIdleConnections();
        // Node waits for those that have not asked for anything yet.
        for (const socket of silent) socket.destroy();
      }),
  };
}

/**
 * The body of a request; undefined where it has more bytes than it may, or says so. Nothing beyond that is kept, and the
 * rest is read and dropped, so that the sender hears the answer. By its events: an async iterator costs as much as an
 * operation of DynamoDB does.
 */
export function readBody(message: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    const tooMuch = () => {
      chunks = [];
      message.off("data", take).resume();
      resolve(undefined);
    };
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) tooMuch();
      else chunks.push(chunk);
    };
    if (Number(message.headers["content-length"] ?? 0) > maxBytes) return tooMuch();
    message.on("data", take);
    message.on("error", reject);
    message.on("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
  });
}

/**
 * Why a request is refused for its `Host`; undefined for a loopback name or one of `others`. A page of another site can
 * point its own name at this machine (DNS rebinding): the browser then sends that name, and lets the page read the answer.
 */
function refusedHost(
  { headers }: IncomingMessage,
  others: readonly string[] = [],
  advice = "open the server for that name",
): string | undefined {
  const { host } = headers;
  // Only programs of HTTP/1.0 send no Host; a browser always does.
  if (host === undefined) return undefined;
  const name = hostName(host);
  if (name !== undefined && (isLoopback(name) || others.includes(name))) return undefined;
  return `this server answers on this machine's own names only, and not as ${JSON.stringify(host.slice(0, 100))} - use http://127.0.0.1, or ${advice}`;
}

/** A host name in lower case, without its port and its last dot; undefined for a text that is none. */
export function hostName(host: string): string | undefined {
  const address = `http://${host}`;
  if (!/^[\w.:[\]-]+$/.test(host) || !URL.canParse(address)) return undefined;
  return new URL(address).hostname.replace(/\.$/, "");
}

/** The parser of addresses has written each number of an address as decimal, and an IPv6 address in its short form. */
function isLoopback(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127(\.\d+){3}$/.test(name);
}
