import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/** Says how the gateway treats a request instead of forwarding it; undefined forwards it. */
export type Fault = "break" | "502" | { status: number; body: string } | undefined;

/** A proxy between the SDK and the server. It counts calls, breaks connections, and answers like E2B's gateway. */
export class Gateway {
  readonly calls: string[] = [];
  /** Called for each request with `METHOD /path`. */
  fault: (call: string) => Fault = () => undefined;
  /** True keeps broken connections open, as a load balancer may do for minutes. */
  keepsDeadConnections = false;
  readonly #open = new Set<ServerResponse>();
  readonly #server: Server;
  readonly #target: URL;

  constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /** Breaks all open connections. */
  breakConnections(): void {
    for (const response of this.#open) response.destroy();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const call = `${request.method} ${(request.url ?? "").split("?")[0]?.replace(/\bi[0-9a-f]{20}\b/, ":id")}`;
    this.calls.push(call);
    const fault = this.fault(call);
    if (fault === undefined) {
      this.#forward(request, response);
      return;
    }
    request.resume();
    if (fault === "break") {
      response.destroy();
      return;
    }
    const { status, body } = fault === "502" ? notFoundBehindTheGateway : fault;
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  }

  #forward(request: IncomingMessage, response: ServerResponse): void {
    const { hostname, port } = this.#target;
    const { method, url, headers } = request;
    const upstream = httpRequest({ hostname, port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      response.flushHeaders();
      answer.on("close", () => answer.complete || this.keepsDeadConnections || response.destroy());
      answer.pipe(response);
    });
    upstream.on("error", () => response.destroy());
    this.#open.add(response);
    response.on("close", () => {
      this.#open.delete(response);
      upstream.destroy();
    });
    request.pipe(upstream);
  }
}

const notFoundBehindTheGateway = {
  status: 502,
  body: JSON.stringify({ sandboxId: "i", message: "The sandbox was not found", code: 502 }),
};
