import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { NovaError, RunOutcome } from "@nova/engine";
import { createSandboxes } from "@nova/sandbox";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { apiKey, Bench, eventually } from "./support/bench.ts";
import { MemoryIo } from "./support/memory-io.ts";

/**
 * Yields the texts that the sandbox writes to the kernel's stdout for one connection, in order. `wait` never resolves.
 */
type Says = (nonce: string, kernel: { wait: Promise<never> }) => Iterable<string> | AsyncIterable<string>;

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
class HostileE2b {
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

/** Waits until the client has read the output, or has closed the connection. */
function drained(response: ServerResponse): Promise<unknown> {
  const done = new AbortController();
  const happens = (event: string) => once(response, event, { signal: done.signal }).catch(() => undefined);
  return Promise.race([happens("drain"), happens("close")]).finally(() => done.abort());
}

let e2b: HostileE2b;
const requests = new Bench();

beforeAll(async () => {
  e2b = new HostileE2b();
  const url = await e2b.listen();
  Object.assign(process.env, { E2B_API_KEY: apiKey, E2B_API_URL: url, E2B_SANDBOX_URL: url });
});
beforeEach(() => {
  e2b.files = () => undefined;
  e2b.attaches = 0;
  e2b.saidCharacters = 0;
});
afterAll(() => e2b.close());

const result = (set: unknown, more: object = {}) => ({ status: "success", set, delete: [], blobs: [], ...more });
const told = (inner: unknown, more: object = {}) => ({
  type: "result",
  result: inner,
  logs: "log",
  durationMs: 1,
  ...more,
});
const line = (nonce: string, message: unknown) => `${nonce} ${JSON.stringify(message)}\n`;
const says =
  (...messages: unknown[]): Says =>
  (nonce) =>
    messages.map((message) => line(nonce, message));
const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const blob = { sha256: hash("kept"), bytes: 4, type: "text" };
const needOf = (n: number, wanted: object = { blob }) => ({
  type: "need",
  ...wanted,
  put: `answers/1-${n}`,
  refuse: `answers/1-${n}`,
});

/** Runs code in the hostile sandbox until it ends, or until the test aborts. */
function run(script: Says, io = new MemoryIo()) {
  e2b.says = script;
  const end = new AbortController();
  const request = requests.request("pass", {}, { isPlain: true });
  const outcome: Promise<RunOutcome | NovaError> = requests
    .run("i0123456789abcdef0123", request, io, { sandboxes: createSandboxes(), signal: end.signal })
    .catch((error: NovaError) => error);
  return { outcome, leave: () => end.abort() };
}

async function* endless(text: string): AsyncIterable<string> {
  for (;;) yield text;
}

describe("a harness that reports that the sandbox lacks resources", () => {
  test("is called four times; then the delivery fails, so that a later delivery calls the harness again", async () => {
    const trouble = says({ type: "trouble", message: "[Errno 11] Resource temporarily unavailable" });
    expect(await run(trouble).outcome).toMatchObject({
      name: "SandboxUnavailable",
      message: expect.stringMatching(/Resource temporarily unavailable.* - wait until/),
    });
    expect(e2b.attaches).toBe(4);
  });

  test("runs the code at the next call if the resources are available by then", async () => {
    const messages = [{ type: "trouble", message: "no memory" }, told(result([["a", "1"]]))];
    const script: Says = (nonce) => [line(nonce, messages.shift())];
    expect(await run(script).outcome).toMatchObject({ kind: "finished", result: { set: [{ key: "a", json: "1" }] } });
  });
});

describe("a sandbox that cannot fully isolate code", () => {
  test("causes one warning in the process of the Lambda, even if it reports this twice", async () => {
    const heard: string[] = [];
    const listen = ({ message }: Error) => heard.push(message);
    process.on("warning", listen);
    const weaker = "this system lets no guard answer for code ([Errno 22] Invalid argument: 'seccomp')";
    for (let n = 0; n < 2; n++) await run(says(told(result([]), { weaker }))).outcome;
    await new Promise(setImmediate);
    process.off("warning", listen);
    expect(heard).toEqual([`${weaker} - use a newer Linux (docs/guarantees.md)`]);
  });
});

describe("an invalid message from a sandbox", () => {
  test.each<[string, Says]>([
    ["a line that is not JSON", (nonce) => [`${nonce} {"type":\n`]],
    ["a line of an unknown type", says({ type: "unknown" })],
    ["a result without logs and duration", says({ type: "result", result: result([]) })],
    ["a report about isolation with control characters", says(told(result([]), { weaker: "\u001b[2J" }))],
    ["logs above the limit", says(told(result([]), { logs: "x".repeat(200_000) }))],
    [
      "an endless line with the nonce",
      (nonce) =>
        (async function* () {
          yield `${nonce} {"a":"`;
          yield* endless("x".repeat(50_000));
        })(),
    ],
    ["endless lines without the nonce", () => endless(`${"noise".repeat(10_000)}\n`)],
    ["endless output without the nonce or a line end", () => endless("noise".repeat(10_000))],
    [
      "endless requests for values",
      (nonce) =>
        (async function* () {
          for (let n = 0; ; n++) yield line(nonce, needOf(n));
        })(),
    ],
    ["a request for a value with a path outside the harness", says({ ...needOf(1), put: "../../etc/passwd" })],
    [
      "a request for the result of a node whose name has 100,000 characters",
      says(needOf(1, { outputs: "x".repeat(100_000) })),
    ],
    ["an outcome of a terabyte", says({ type: "outcome", path: "claims/a/outcome", bytes: 2 ** 40 })],
    [
      "an outcome with a path outside the folder of claims",
      says({ type: "outcome", path: "claims/../../x", bytes: 1 }),
    ],
  ])("fails the node without a retry: %s", async (_, script) => {
    const outcome = await run(script).outcome;
    expect(outcome).toMatchObject({ name: "NodeFailed", message: expect.stringContaining("leave the harness alone") });
    expect(e2b.attaches).toBe(1);
    expect(e2b.saidCharacters).toBeLessThan(64 << 20);
  });

  test.each([
    [
      "that grows while it is read",
      10,
      () =>
        (function* () {
          for (;;) yield Buffer.alloc(50_000, "x");
        })(),
    ],
    ["that is not JSON", 3, () => [Buffer.from("{}}")]],
    ["that is a message of another type", 2, () => [Buffer.from("{}")]],
  ])("fails the node without a retry: an outcome file %s", async (_, bytes, file) => {
    e2b.files = file;
    expect(await run(says({ type: "outcome", path: "claims/a/outcome", bytes })).outcome).toMatchObject({
      name: "NodeFailed",
    });
    expect(e2b.attaches).toBe(1);
  });
});

describe("an invalid result of code", () => {
  test.each([
    ["a number", 7],
    ["null", null],
    ["an object without a status", {}],
    ["an unknown status", { status: "finished", set: [] }],
    ["keys that are not texts", result([[1, "1"]])],
    ["values that are not texts", result([["a", { b: 1 }]])],
    ["invalid references to blobs", result([], { blobs: [{ sha256: "../../x", bytes: 1, type: "bytes" }] })],
    [
      "a class of error that code cannot have",
      { status: "error", class: "ExecutionClosed", message: "", traceback: "" },
    ],
    ["a message of a megabyte", { status: "error", class: "NodeFailed", message: "x".repeat(1 << 20), traceback: "" }],
  ])("fails the node and keeps the logs of the code: %s", async (_, inner) => {
    expect(await run(says(told(inner))).outcome).toMatchObject({
      kind: "finished",
      result: {
        status: "error",
        class: "NodeFailed",
        message: expect.stringContaining("a result that is none"),
        logs: "log",
      },
    });
  });

  test.each<[string, string, HostileE2b["files"]]>([
    ["are missing", "no longer in the sandbox", () => undefined],
    ["are shorter than their references", "changed after", () => [Buffer.from("kep")]],
    [
      "grow while they are read",
      "changed after",
      () =>
        (function* () {
          for (;;) yield Buffer.alloc(50_000, "x");
        })(),
    ],
  ])("fails the node if it names blob files that %s", async (_, message, files) => {
    e2b.files = files;
    const named = result([["a", JSON.stringify({ $blob: blob })]], { blobs: [blob] });
    expect(await run(says(told(named))).outcome).toMatchObject({
      kind: "finished",
      result: { status: "error", class: "NodeFailed", message: expect.stringContaining(message) },
    });
  });
});

describe("a sandbox that never sends a result", () => {
  const parts =
    (...messages: string[]): Says =>
    (_, { wait }) =>
      (async function* () {
        yield* messages;
        yield await wait;
      })();

  test.each<[string, Says]>([
    ["is silent", parts()],
    ["sends half a line", (nonce, kernel) => parts(`${nonce} {"type"`)(nonce, kernel)],
    ["sends a result with a wrong nonce", parts(line("0".repeat(32), told(result([]))))],
    ["closes every connection immediately", () => []],
  ])("is abandoned when the time of the delivery is over: it %s", async (_, script) => {
    const { outcome, leave } = run(script);
    await eventually(() => e2b.attaches > 0);
    leave();
    expect(await outcome).toEqual({ kind: "unfinished" });
    const { attaches } = e2b;
    await new Promise((resolve) => setImmediate(resolve));
    expect(e2b.attaches).toBe(attaches);
  });

  test("gets only a few requested values at a time, and none after the time of the delivery is over", async () => {
    let [opened, open] = [0, 0];
    class SlowIo extends MemoryIo {
      override async openBlob() {
        open++;
        opened = Math.max(opened, open);
        return new Promise<never>(() => undefined);
      }
    }
    const needs = Array.from({ length: 500 }, (_, n) => needOf(n));
    const { outcome, leave } = run(
      (nonce, { wait }) =>
        (async function* () {
          for (const need of needs) yield line(nonce, need);
          yield await wait;
        })(),
      new SlowIo(),
    );
    await eventually(() => opened >= 6);
    leave();
    expect(await outcome).toEqual({ kind: "unfinished" });
    expect(opened).toBe(6);
  });

  test("is not read any further after the time of the delivery is over", async () => {
    let taken = 0;
    e2b.files = () =>
      (function* () {
        for (;;) {
          taken++;
          yield Buffer.alloc(50_000, "x");
        }
      })();
    const { outcome, leave } = run(says({ type: "outcome", path: "claims/a/outcome", bytes: 64 << 20 }));
    await eventually(() => taken > 2);
    leave();
    expect(await outcome).toEqual({ kind: "unfinished" });
  });
});
