import { once } from "node:events";
import { createServer, IncomingMessage, type RequestListener, type Server, type ServerOptions } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";

/**
 * A request whose reader may stop in the middle of the body. Node's own iterator would then destroy the request and
 * never read from its connection again. A client that sends its next request on that connection would wait for ever.
 */
class Received extends IncomingMessage {
  override [Symbol.asyncIterator]() {
    return this.iterator({ destroyOnReturn: false });
  }
}

export interface HttpServerOptions extends ServerOptions {
  /** Host names that requests may carry, in lower case, in addition to loopback names. */
  hosts?: readonly string[];
  /** The advice at the end of a refusal: how the operator can allow another host name. */
  hostAdvice?: string | undefined;
}

/**
 * Answers a message that Node cannot read as a request. The status is 431 if the header is too large: it may have a
 * token with many groups.
 */
function refuseUnreadable({ code }: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) return void socket.destroy();
  const [status, message] =
    code === "HPE_HEADER_OVERFLOW"
      ? ["431 Request Header Fields Too Large", "the header of the request is larger than 16 KB - send a shorter token"]
      : ["400 Bad Request", "the server cannot read this as a request of HTTP/1.1"];
  const body = JSON.stringify({ message });
  const fields = `content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close`;
  socket.end(`HTTP/1.1 ${status}\r\n${fields}\r\n\r\n${body}`);
}

/**
 * Creates an HTTP server. It refuses requests for host names of other machines with the status 421. A handler may
 * answer before it has read the whole body of a request. The server then reads and drops the rest, so that the client
 * gets the answer and can use the connection again.
 */
export function httpServer(
  listener: RequestListener,
  { hosts, hostAdvice, ...options }: HttpServerOptions = {},
): Server {
  const server = createServer({ ...options, IncomingMessage: Received }, (request, response) => {
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
  return server.on("clientError", refuseUnreadable);
}

export interface Binding {
  /** The port; absent or 0: any free port. */
  port?: number | undefined;
  /**
   * If true, closing the server breaks the connections of requests under way. Otherwise closing waits until they are
   * answered.
   */
  breaksConnections?: boolean;
}

export interface Listening {
  url: string;
  close(): Promise<void>;
}

/** Listens on 127.0.0.1. Rejects if the port is taken. */
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
        // Node would wait for connections that have not sent a request yet.
        for (const socket of silent) socket.destroy();
      }),
  };
}

/**
 * Reads the body of a request; undefined if the body has more than `maxBytes`. The rest of such a body is read and
 * dropped, so that the client gets the answer. Uses events, because an async iterator takes as long as a whole
 * operation of the local DynamoDB.
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
 * Returns the message that refuses a request for its header `Host`; undefined if the header has a loopback name or one
 * of `others`. Without this check, another site could point its own host name at this machine (DNS rebinding), and its
 * page could read our answers.
 */
function refusedHost(
  { headers }: IncomingMessage,
  others: readonly string[] = [],
  advice = "open the server for that name",
): string | undefined {
  const { host } = headers;
  // Only HTTP/1.0 clients send no Host; browsers always do.
  if (host === undefined) return undefined;
  const name = hostName(host);
  if (name !== undefined && (isLoopback(name) || others.includes(name))) return undefined;
  return `this server answers on this machine's own names only, and not as ${JSON.stringify(host.slice(0, 100))} - use http://127.0.0.1, or ${advice}`;
}

/** Returns the host name in lower case, without its port and final dot; undefined for an invalid host. */
export function hostName(host: string): string | undefined {
  const address = `http://${host}`;
  if (!/^[\w.:[\]-]+$/.test(host) || !URL.canParse(address)) return undefined;
  return new URL(address).hostname.replace(/\.$/, "");
}

/**
 * Returns whether a host name from the URL parser means this machine. The parser has written IPv4 addresses in decimal
 * and IPv6 addresses in their short form.
 */
function isLoopback(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127(\.\d+){3}$/.test(name);
}
