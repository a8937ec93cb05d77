// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { createHmac } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { voteLinks } from "@nova/engine";
import { serviceFunctions } from "@nova/functions";
import { type Client, createKey } from "@nova/service";
import { monotonicFactory } from "ulid";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { routes } from "../../functions/api/routes/index.ts";
import { apiLambdas } from "../../stacks/api.ts";
import { triggerLambdas } from "../../stacks/triggers.ts";
import { forbidden } from "../support/allowed.ts";
import { openTestCloud, type TestCloud } from "../support/cloud.ts";
import { httpEvent } from "../support/http-event.ts";
import { type WatchedCalls, watchCalls } from "../support/watched-calls.ts";
import { patternOf } from "./api/support/api.ts";
import { asking } from "./api/support/flows.ts";

// The functions read these variables when they are loaded. Slow work goes over the bus, as in a deployment.
vi.hoisted(() =>
  Object.assign(process.env, { NOVA_QUEUES: "true", NOVA_LINK_BASE: "https://nova.example.com/console/tasks" }),
);

const secret = "a secret that is long enough";
const credential = { kind: "custom", values: { token: secret } };
const email = {
  kind: "email",
  values: { user: "u", password: secret, imap_host: "127.0.0.1", imap_port: 9 },
};
const mail = "From: ada@example.com\r\nTo: invoices@in.example.com\r\nMessage-ID: <1@example.com>\r\n\r\nHello.";

let service: DeployedService;
let ask: DeployedService["ask"];
let pager: Server;
let execution: string;

beforeAll(async () => {
  service = await openDeployedService();
  ({ ask } = service);
  pager = createServer((_, response) => response.end());
  await new Promise<void>((resolve) => pager.listen(0, "127.0.0.1", resolve));
});

afterAll(async () => {
  pager.close();
  await service[Symbol.asyncDispose]();
});

/** Returns a workflow with one trigger of each kind and two receivers of failures. */
function flow() {
  const url = `http://127.0.0.1:${(pager.address() as AddressInfo).port}/`;
  const [start, approval, end] = asking.nodes;
  return {
    ...asking,
    nodes: [start, { ...approval, to: ["boss@example.com"] }, end],
    on_failure: { mail: ["ops@example.com"], webhook: { url, secret: "hook" } },
    triggers: [
      { type: "mail", address: "invoices" },
      { type: "imap", client: "acme" },
      { type: "schedule", every: "1d", client: "acme" },
      { type: "event", pattern: { source: ["shop"] } },
      { type: "webhook", id: "vendor", signature: { header: "x-signature", secret: "hook", algorithm: "sha256" } },
    ],
  };
}

async function startWithUpload(): Promise<string> {
  const upload = await ask("POST /uploads", { bytes: 5, client_slug: "acme" });
  await fetch(upload.url, { method: "PUT", headers: upload.headers, body: "bytes" });
  const body = { client_slug: "acme", context: { file: { $upload: upload.id } } };
  return (await ask("POST /workflows/asking/execute", body, { "idempotency-key": "once" })).execution_id;
}

/** Delivers a mail as SES does. */
async function arrives(Body: string): Promise<void> {
  const s3 = new S3Client({ forcePathStyle: true });
  await s3.send(new PutObjectCommand({ Bucket: service.cloud.environment.NOVA_BUCKET, Key: "mail/1", Body }));
  s3.destroy();
  await vi.waitFor(
    async () => expect((await ask("GET /deliveries?workflow=asking")).items[0]?.type).toBe("mail"),
    20_000,
  );
}

/** Returns the hash of a blob in the first context of the run. */
async function aBlob(): Promise<string> {
  const { context } = await ask(`GET /executions/${execution}`);
  return context.file.$blob.sha256;
}

async function all(requests: string[]): Promise<void> {
  for (const request of requests) await ask(`GET ${request}`);
}

async function exportAll(): Promise<void> {
  for (let cursor = ""; ; ) {
    const { next_cursor: next } = await ask(`GET /clients/acme/export${cursor}`);
    if (next === null) return;
    cursor = `?cursor=${next}`;
  }
}

describe("the Lambda functions of the service, on a laptop,", { timeout: 60_000 }, () => {
  it("store credentials, publish workflows, set limits and pause workflows", async () => {
    await ask("POST /clients", { slug: "acme", name: "Acme" });
    await ask("PUT /clients/acme/credentials/email", email);
    await ask("PUT /clients/acme/credentials/other", credential);
    await ask("POST /workflows/validate", flow());
    await ask("POST /workflows", flow());
    await vi.waitFor(async () => expect((await ask("GET /workflows/asking")).status).toBe("ready"), 20_000);
    await ask("PUT /workflows/asking", flow());
    await ask("PUT /workflows/asking/credentials/hook", credential);
    await ask("POST /credentials/rotate");
    await ask("POST /signing-keys/rotate");
    await ask("GET /.well-known/nova-keys.json");
    const quotas = { retention_days: 1, max_cost_usd: 1, max_concurrent: 9 };
    await ask("PATCH /clients/acme", { pins: { asking: 1 }, quotas });
    await ask("PUT /workflows/asking/quotas", { max_concurrent: 9 });
    for (const what of ["/workflows/asking", "/workflows/asking/schedules/schedule-1"]) {
      for (const change of ["pause", "resume"]) await ask(`POST ${what}/${change}`);
    }
  });

  it("start runs by API calls and by every kind of trigger, and report failures", async () => {
    execution = await startWithUpload();
    const fired = { workflow: "asking", trigger: "schedule-1", scheduled_at: "2026-01-01T00:00:00Z" };
    await service.invoke("nova-fire-trigger", fired);
    await ask("POST /events", { source: "shop", type: "paid", detail: { of: "x".repeat(300_000) }, on_bus: true });
    await ask("POST /events", { source: "shop", type: "paid" });
    const signature = createHmac("sha256", secret).update("{}").digest("hex");
    await ask("POST /hooks/vendor", {}, { "x-signature": signature });
    await arrives(mail);
    await service.invoke("nova-poll-mailbox", { workflow: "asking", trigger: "imap-1" });
    await service.invoke("nova-notify", { detail: { execution_id: execution } });
    const [{ task_id, execution_id }] = (await ask("GET /tasks")).items;
    await service.invoke("nova-notify", { detail: { execution_id, task_id } });
    expect((await ask("GET /tasks")).items[0].mail).toMatchObject({ to: ["boss@example.com"], problem: null });
    await service.invoke("nova-retain", {});
  });

  it("mail links to approvers, and take votes and delegations by link", async () => {
    const approvers = { any: ["cfo@example.com", "ceo@example.com"], count: 2 };
    const [start, approval, end] = asking.nodes;
    const first = { ...approval, approvers: { ...approvers, not: ["second"] } };
    const second = { ...approval, id: "second", approvers: { ...approvers, not: ["ask"] } };
    const edges = [
      { from: "start", to: "ask" },
      { from: "ask", to: "second", condition: "default" },
      { from: "second", to: "end", condition: "default" },
    ];
    const voting = { ...asking, id: "voting", nodes: [start, first, second, end], edges };
    await ask("POST /workflows", voting);
    await vi.waitFor(async () => expect((await ask("GET /workflows/voting")).status).toBe("ready"), 20_000);
    const { execution_id } = await ask("POST /workflows/voting/execute", { client_slug: "acme" });
    const { ports, task } = await vi.waitFor(async () => {
      const [task] = await service.cloud.service.tasks.ofExecution(execution_id);
      return { ports: service.cloud.service, task: task ?? expect.unreachable() };
    }, 20_000);
    const byLink = async (request: string, mail: string, body?: object) => {
      const [link] = await voteLinks(ports, task, mail);
      const [, token = ""] = link?.url?.split("#vote=") ?? [];
      return ask(request, body, { "nova-vote-link": token });
    };
    await vi.waitFor(async () => {
      const { mail } = await ask(`GET /tasks/${task.id}`);
      expect(mail.to.toSorted()).toEqual(["ceo@example.com", "cfo@example.com"]);
    }, 20_000);
    const choice = { choice: "approved" };
    await byLink(`POST /tasks/${task.id}`, "cfo@example.com", choice);
    await service.invoke("nova-notify", { detail: { execution_id, task_id: task.id, reminder: 1 } });
    await byLink(`POST /tasks/${task.id}/withdraw`, "cfo@example.com");
    await byLink(`POST /tasks/${task.id}/delegate`, "cfo@example.com", { to: "deputy@example.com" });
    await byLink(`GET /tasks/${task.id}`, "deputy@example.com");
    await byLink(`POST /tasks/${task.id}`, "deputy@example.com", choice);
    expect((await byLink(`POST /tasks/${task.id}`, "ceo@example.com", choice)).missing).toBe(0);
    await ask(`POST /executions/${execution_id}/cancel`);
  });

  it("store sessions, run them, and answer front ends of ScriptChain, the system before NOVA", async () => {
    const code = (id: string) => ({ id, type: "action", code: `context["${id}"] = 1` });
    const { session_id } = await ask("POST /sessions", { client_slug: "acme", nodes: [code("a"), code("b")] });
    const at = `/sessions/${session_id}`;
    const edge = { from: "a", to: "b" };
    await ask(`POST ${at}/edges`, edge);
    await ask(`POST ${at}/nodes`, code("c"));
    await ask(`PATCH ${at}/nodes/c`, { name: "The third" });
    await ask(`DELETE ${at}/edges?from=a&to=b`);
    await ask(`DELETE ${at}/nodes/c`);
    await ask(`POST ${at}/edges`, edge);
    await ask(`POST ${at}/edits`, { operations: [] });
    await ask("POST /mcp", { jsonrpc: "2.0", id: 1, method: "ping" });
    await ask("GET /llms.txt");
    await ask("GET /llms-full.txt");
    await ask(`PUT ${at}/nodes/a/output`, { output: { a: 2 } });
    await ask(`PATCH ${at}`, { name: "Renamed" });
    await all(["/sessions", "/sessions?client=acme", at, `${at}/outputs`, `${at}/nodes/a/check`]);
    // E2B and models do not answer here, so an execution only starts.
    const { execution_id: begun } = await ask(`POST ${at}/run?wait=0`);
    if (begun !== null) await ask(`POST /executions/${begun}/cancel`);
    await ask(`POST ${at}/nodes/b/run?wait=0`).catch(() => undefined);
    await ask(`POST ${at}/publish`, { workflow: "from-session" });
    await ask("POST /add_node", { session_id, node_id: "say", prompt_text: "Say {a}." });
    await ask("POST /add_edge", { session_id, from_node: "b", to_node: "say" });
    await ask("POST /validate_template", { session_id, prompt_text: "Say {a}." });
    await ask("POST /get_node_outputs", { session_id });
    for (const path of ["/generate_text_node", "/execute"])
      await ask(`POST ${path}`, { session_id, prompt_text: "Say." }).catch(() => undefined);
    await ask(`DELETE ${at}`);
    expect((await ask("POST /sessions", { client_slug: "acme" })).session_id).not.toBe(session_id);
  });

  it("read and list everything that the API returns", async () => {
    const [run, workflow, client] = [`/executions/${execution}`, "/workflows/asking", "/clients/acme"];
    await all(["/verifications", "/executions?label=order%3DPO-10"]);
    await all(["", "/chain", "/verify", "/chain/0?full", `/blobs/${await aBlob()}`].map((part) => run + part));
    await all([`${run}/diff/${execution}`]);
    await all(["", "/versions", "/asl", "/findings", "/generations", "/quotas"].map((part) => workflow + part));
    await all(["/credentials", "/credentials/hook"].map((part) => workflow + part));
    await all(["", "/credentials", "/credentials/email"].map((part) => client + part));
    await all([
      "/executions",
      "/workflows",
      "/schedules",
      "/clients",
      "/keys",
      "/tasks",
      "/audit",
      "/formats",
      "/roots",
      "/openapi.json",
    ]);
    await all(["/executions?client=acme", "/deliveries?client=acme", "/audit?client=acme"]);
    const reports = ["workflows", "nodes", "errors", "ai-cost"].map((name) => `/analytics/${name}`);
    await all(reports.flatMap((report) => [report, `${report}?client=acme`]));
    // E2B and models do not answer here.
    await ask("GET /health").catch(() => undefined);
    await exportAll();
  });

  it("answer tasks, and cancel, delete and erase runs", async () => {
    const [task, other] = (await ask("GET /tasks")).items;
    await ask(`GET /executions/${task.execution_id}/chain/1/logs`);
    await ask(`GET /tasks/${task.task_id}`);
    const review = { node: "ask", key: "a".repeat(64), code_hash: "b".repeat(64), verdict: "approved" };
    await ask("POST /workflows/asking/generations/review", review).catch(() => undefined);
    await ask(`POST /tasks/${task.task_id}/withdraw`).catch(() => undefined);
    await ask(`POST /tasks/${task.task_id}/delegate`, { to: "deputy@acme.com" }).catch(() => undefined);
    await ask(`POST /tasks/${task.task_id}`, { choice: "approved" });
    await ask(`POST /executions/${other.execution_id}/answer`, { choice: "approved" });
    const context = Object.fromEntries(["a", "b", "c", "d"].map((key) => [key, key.repeat(900_000)]));
    const { execution_id: large } = await ask("POST /workflows/asking/execute", { client_slug: "acme", context });
    for (const { execution_id: id } of (await ask("GET /executions")).items) await ask(`POST /executions/${id}/cancel`);
    // The proof file is so large that the API stores it. The response has the URL of the file and no body.
    expect(await ask(`GET /executions/${large}/proof?contents=all`)).toBeUndefined();
    await ask(`POST /executions/${execution}/restart`, { from: "ask" });
    expect((await ask(`POST /executions/${other.execution_id}/erase`)).erased).toEqual([other.execution_id]);
    expect(await ask("POST /roots")).toMatchObject({ number: 1 });
    expect(await ask("POST /roots")).toMatchObject({ number: 1 });
    const isErased = async () => (await service.cloud.service.executions.get(other.execution_id))?.erased;
    await vi.waitFor(async () => expect(await isErased()).toBe(true), 20_000);
    const key = await ask("POST /keys", { role: "viewer", client_slug: "acme" });
    await ask("POST /keys", { role: "viewer", client_slug: "acme" });
    await ask(`DELETE /keys/${key.id}`);
    await ask("POST /workflows/asking/activate", { version: 1 });
    await ask("DELETE /workflows/asking/credentials/hook");
    await ask("DELETE /clients/acme/credentials/other");
    await ask("DELETE /clients/acme");
    await vi.waitFor(async () => expect((await erasing())?.restsUntil).toBeDefined(), 20_000);
    await endStraggler();
    await lookOnceMore();
    expect(await service.cloud.service.clients.get("acme")).toBeUndefined();
    await ask("DELETE /workflows/asking");
  });

  const erasing = async () => (await service.cloud.service.clients.get("acme"))?.erasing;

  /** Simulates a function that read the client before the deletion and starts a run after the deletion. */
  async function endStraggler(): Promise<void> {
    const { clients, executions } = service.cloud.service;
    const { erasing: _, ...before } = (await clients.get("acme")) as Client;
    const looks = vi.spyOn(clients, "get").mockResolvedValueOnce(before).mockResolvedValueOnce(before);
    const scheduled_at = "2026-01-02T00:00:00Z";
    await service.invoke("nova-fire-trigger", { workflow: "asking", trigger: "schedule-1", scheduled_at });
    looks.mockRestore();
    const newest = async () => (await executions.list({ client: "acme", limit: 1 })).items[0];
    expect((await newest())?.id).not.toBe(execution);
    await vi.waitFor(async () => expect(await newest()).toMatchObject({ status: "cancelled", open: false }), 20_000);
  }

  /** Runs the final erasure with a clock at which all functions that knew the client have ended. */
  async function lookOnceMore(): Promise<void> {
    const later = Date.now() + 60 * 60_000;
    const clock = vi.spyOn(service.cloud.service.clock, "now").mockReturnValue(later);
    await service.invoke("nova-erase", { detail: { client: "acme" } });
    clock.mockRestore();
  }

  it("are all called in this test file, and every route of the API is requested and every function makes AWS calls", () => {
    const patterns = routes.map(({ method, path }) => [`${method} ${path}`, patternOf(`${method} ${path}`)] as const);
    const unasked = patterns.filter(([, pattern]) => !service.asked.some((one) => pattern.test(one)));
    expect(unasked.map(([route]) => route)).toEqual([]);
    expect(service.names.filter((name) => service.calls.of(name).length === 0)).toEqual([]);
  });

  it("use the E2B key only to cancel runs and to erase runs that have not ended", () => {
    const asking = service.names.filter((name) => service.calls.of(name).some((call) => call.startsWith("ssm:")));
    expect(asking.toSorted()).toEqual(["nova-api", "nova-erase"]);
  });

  it.each(Object.keys({ ...triggerLambdas, ...apiLambdas }))(
    "make only calls that the AWS role of %s allows",
    (name) => {
      expect(forbidden(name, service.calls.of(name))).toEqual([]);
    },
  );
});

const context = { awsRequestId: "request-1", getRemainingTimeInMillis: () => 60_000 };

interface Answer {
  statusCode: number;
  body?: string;
}

/** The functions of the service with a cloud. `calls` records the AWS calls that the functions make. */
interface DeployedService extends AsyncDisposable {
  cloud: TestCloud;
  calls: WatchedCalls;
  names: string[];
  /** Requests to the API, as `GET /path`. */
  asked: string[];
  /** Sends a request and returns the parsed answer. Throws if the status is no success. */
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of its answer
  ask(request: string, body?: object, headers?: Record<string, string>): Promise<any>;
  /** Invokes a function directly, as EventBridge and Scheduler do. */
  invoke(name: keyof typeof serviceFunctions, event: object): Promise<unknown>;
}

/** Opens the service. Set `NOVA_QUEUES` before the call if the service is to do slow work over the event bus. */
async function openDeployedService(): Promise<DeployedService> {
  const api = {
    handler: async (event: object, context: object): Promise<Answer> =>
      (await import("@nova/functions/api")).handler(event as never, context as never),
  };
  const functions = { ...serviceFunctions, "nova-api": api };
  const calls = watchCalls(functions);
  const cloud = await openTestCloud();
  const key = await createKey(cloud.service, null, { ulid: monotonicFactory()(), role: "admin" });
  const asked: string[] = [];
  return {
    cloud,
    calls,
    asked,
    names: Object.keys(functions),
    async ask(request, body, headers = {}) {
      asked.push(request.replace(/\?.*/, ""));
      const sent = { authorization: `Bearer ${key.text}`, "content-type": "application/json", ...headers };
      const { statusCode, body: text } = await api.handler(httpEvent(request, sent, body), context);
      if (statusCode >= 400) throw new RangeError(`${request} answered ${statusCode}: ${text}`);
      return text !== undefined && /^[{[]/.test(text) ? JSON.parse(text) : undefined;
    },
    invoke: (name, event) => functions[name].handler(event, context as never),
    async [Symbol.asyncDispose]() {
      await cloud.close();
      calls[Symbol.dispose]();
    },
  };
}
