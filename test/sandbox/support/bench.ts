import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { RunOptions, RunOutcome, RunRequest, Sandbox, Sandboxes, SandboxPool } from "@nova/engine";
import { createSandboxes } from "@nova/sandbox";
import { afterAll, afterEach, beforeAll } from "vitest";
import { type E2bOptions, type E2bServer, openE2b } from "../../../packages/e2b-local/src/open.ts";
import { promisedModules, pythonVariable } from "../../../packages/local/src/cloud/python-packages.ts";
import { MemoryIo } from "./memory-io.ts";

export const apiKey = "e2b_0123456789abcdef0123456789abcdef01234567";

/** An E2B server, a gateway in front of it, and the adapter, for the tests of one file. */
export class Bench {
  server!: E2bServer;
  gateway!: Gateway;
  sandboxes!: Sandboxes;
  #links = 0;

  static use(options: Partial<E2bOptions> = {}): Bench {
    const bench = new Bench();
    beforeAll(async () => {
      bench.server = await openE2b({ apiKey, modules: promisedModules, pythonVariable, ...options });
      bench.gateway = new Gateway(bench.server.apiUrl);
      const url = await bench.gateway.listen();
      Object.assign(process.env, { E2B_API_KEY: apiKey, E2B_API_URL: url, E2B_SANDBOX_URL: url });
      bench.sandboxes = createSandboxes();
    });
    afterEach(() => {
      bench.gateway.fault = () => undefined;
    });
    afterAll(async () => {
      await bench.gateway.close();
      await bench.server.close();
    });
    return bench;
  }

  create(lib: Record<string, string> = {}, execution = "exec_1", pool?: SandboxPool): Promise<Sandbox> {
    return this.sandboxes.create({
      template: "nova",
      execution,
      scope: "",
      lifetimeSeconds: 300,
      lib,
      internet: true,
      ...(pool !== undefined && { pool }),
    });
  }

  /** Returns a request to run code with a new claim. */
  request(code: string, context: Record<string, string> = {}, more: Partial<RunRequest> = {}): RunRequest {
    return {
      execution: "exec_1",
      claim: { link: `exec_1.${++this.#links}`, step: 0, attempt: 1 },
      node: "some",
      nodeType: "action",
      code,
      fileName: "nodes/some.py",
      timeoutSeconds: 20,
      context: Object.entries(context).map(([key, json]) => ({ key, json })),
      environment: {},
      ...more,
    };
  }

  run(
    sandbox: Sandbox | string,
    request: RunRequest,
    io = new MemoryIo(),
    { sandboxes = this.sandboxes, ...options }: Partial<RunOptions> & { sandboxes?: Sandboxes } = {},
  ): Promise<RunOutcome> {
    const id = typeof sandbox === "string" ? sandbox : sandbox.id;
    const defaults = {
      first: true,
      turnWritten: Promise.resolve(true),
      lifetimeSeconds: 120,
      signal: AbortSignal.timeout(25_000),
    };
    return sandboxes.run(id, request, io, { ...defaults, ...options });
  }
}

/** Parses the values that a run set. Fails unless the run succeeded. */
export function changesOf(outcome: RunOutcome): Record<string, unknown> {
  if (outcome.kind !== "finished" || outcome.result.status !== "success")
    throw new TypeError(`not a success: ${JSON.stringify(outcome)}`);
  return Object.fromEntries(outcome.result.set.map(({ key, json }) => [key, JSON.parse(json)]));
}

/** Polls a condition; fails after ten seconds. */
export async function eventually(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new RangeError("the condition did not come true within ten seconds");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/**
 * Says what the gateway does with a request instead of forwarding it. If it is undefined, the gateway forwards the
 * request.
 */
type Fault = "break" | "502" | { status: number; body: string } | undefined;

/** A proxy between the SDK and the server. It counts calls, breaks connections, and answers like E2B's gateway. */
class Gateway {
  readonly calls: string[] = [];
  /** Called with `METHOD /path` for each request. */
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
