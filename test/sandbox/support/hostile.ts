import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Returns the texts that the sandbox writes to the kernel's stdout for one connection, in order. `wait` never resolves.
 */
export type Says = (nonce: string, kernel: { wait: Promise<never> }) => Iterable<string> | AsyncIterable<string>;

const id = "i0123456789abcdef0123";
const created = {
  sandboxID: id,
  templateID: "nova",
  clientID: "c",
  envdVersion: "0.6.4",
  domain: null,
  envdAccessToken: "t",
  trafficAccessToken: "t",
};
const info = {
  ...created,
  startedAt: "2026-01-01T00:00:00Z",
  endAt: "2036-01-01T00:00:00Z",
  state: "running",
  metadata: {},
  cpuCount: 2,
  memoryMB: 2048,
  diskSizeMB: 4096,
};

/** E2B with one hostile sandbox and an honest control plane. */
export class HostileE2b {
  says: Says = () => [];
  /** Contents of the sandbox's files by path; absent files are missing. */
  files: (path: string) => Iterable<Uint8Array> | undefined = () => undefined;
  attaches = 0;
  /** Characters of the sandbox's output that a client has read. */
  saidCharacters = 0;
  readonly #server: Server = createServer((request, response) => void this.#answer(request, response));

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://localhost");
    const call = `${request.method} ${url.pathname.replace(id, ":id")}`;
    const body = call === "POST /execute" ? await textOf(request) : void request.resume();
    switch (call) {
      case "POST /sandboxes":
      case "POST /sandboxes/:id/connect":
      case "POST /v2/sandboxes/:id/connect":
        return json(response, 201, created);
      case "GET /sandboxes/:id":
        return json(response, 200, info);
      case "POST /contexts":
        return json(response, 200, { id: "own", language: "python", cwd: "/" });
      case "POST /files": {
        const path = url.searchParams.get("path") ?? "";
        request.on("end", () => json(response, 200, [{ path, name: path, type: "file" }]));
        return;
      }
      case "GET /files":
        return this.#download(url.searchParams.get("path") ?? "", response);
      case "POST /execute":
        return this.#execute(body ?? "", response);
      default:
        return json(response, request.method === "DELETE" ? 200 : 404, {});
    }
  }

  async #download(path: string, response: ServerResponse): Promise<void> {
    const parts = this.files(path.replace("/root/.nova-sandbox/", ""));
    if (!parts) return json(response, 404, { code: 404, message: "no such file" });
    response.writeHead(200, { "content-type": "application/octet-stream" });
    for (const part of parts) {
      if (response.destroyed) return;
      if (!response.write(part)) await drained(response);
    }
    response.end();
  }

  async #execute(body: string, response: ServerResponse): Promise<void> {
    this.attaches++;
    const [, nonce = ""] = /nonce[\\"]+:[\\"]+([0-9a-f]{32})/.exec(body) ?? [];
    response.writeHead(200);
    response.flushHeaders();
    const never = new Promise<never>((_, reject) => response.on("close", () => reject(new Error("left"))));
    never.catch(() => undefined);
    try {
      for await (const text of this.says(nonce, { wait: never })) {
        if (response.destroyed) return;
        if (!response.write(`${JSON.stringify({ type: "stdout", text })}\n`)) await drained(response);
        this.saidCharacters += text.length;
      }
      response.end(`${JSON.stringify({ type: "end_of_execution" })}\n`);
    } catch {
      response.destroy();
    }
  }
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  return (await Array.fromAsync(request as AsyncIterable<Buffer>)).join("");
}

/** Waits until the client has read the output, or is gone. */
function drained(response: ServerResponse): Promise<unknown> {
  const done = new AbortController();
  const happens = (event: string) => once(response, event, { signal: done.signal }).catch(() => undefined);
  return Promise.race([happens("drain"), happens("close")]).finally(() => done.abort());
}
