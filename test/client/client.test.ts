import { ApiProblem, ApiUnreachable, createClient, type NovaClient } from "@nova/client";
import { describe, expect, it, vi } from "vitest";
import { type Reply, ScriptedServer } from "./support/scripted-server.ts";

const credential = { kind: "custom" as const, values: { key: "s3cret-1" } };
const exec = `exec_${"0".repeat(26)}`;

function open(...script: [string, Reply | Error][]) {
  const server = new ScriptedServer(...script);
  const nova = createClient({ url: "https://nova.example.com/", apiKey: "nova_key", fetch: server.fetch });
  return { server, nova };
}

function page(items: unknown[], next_cursor: string | null = null): Reply {
  return { body: { items, next_cursor } };
}

describe("a request of the typed client", () => {
  it("carries the API key and goes to the path of its route", async () => {
    const { server, nova } = open(["GET /workflows/invoice?version=3", { body: { id: "invoice" } }]);
    expect(await nova.workflows.get("invoice", { version: 3 })).toEqual({ id: "invoice" });
    expect(server.sent[0]?.headers.get("authorization")).toBe("Bearer nova_key");
  });

  it.each<[string, string, (nova: NovaClient) => Promise<unknown>]>([
    ["publishes a workflow", "POST /workflows", (nova) => nova.workflows.publish({ nodes: [] })],
    ["validates a workflow", "POST /workflows/validate", (nova) => nova.workflows.validate({ nodes: [] })],
    ["activates a version", "POST /workflows/a/activate", (nova) => nova.workflows.activate("a", 2)],
    ["shows a state machine", "GET /workflows/a/asl", (nova) => nova.workflows.asl("a")],
    ["deletes a workflow", "DELETE /workflows/a", (nova) => nova.workflows.delete("a")],
    ["erases an execution", `POST /executions/${exec}/erase`, (nova) => nova.executions.erase(exec)],
    ["cancels an execution", `POST /executions/${exec}/cancel`, (nova) => nova.executions.cancel(exec)],
    ["restarts an execution", `POST /executions/${exec}/restart`, (nova) => nova.executions.restart(exec)],
    [
      "restarts an execution and waits for its end",
      `POST /executions/${exec}/restart?wait=5`,
      ({ executions }) => executions.restart(exec, { wait: 5, from: "find" }),
    ],
    ["verifies an execution", `GET /executions/${exec}/verify`, (nova) => nova.executions.verify(exec)],
    ["answers a task", "POST /tasks/task_1", (nova) => nova.tasks.answer("task_1", { choice: "approved" })],
    ["withdraws a vote", "POST /tasks/task_1/withdraw", (nova) => nova.tasks.withdraw("task_1")],
    ["delegates a vote", "POST /tasks/task_1/delegate", (nova) => nova.tasks.delegate("task_1", "deputy@acme.com")],
    ["makes a client", "POST /clients", (nova) => nova.clients.create({ slug: "acme", name: "Acme" })],
    ["reads a client", "GET /clients/acme", (nova) => nova.clients.get("acme")],
    ["changes a client", "PATCH /clients/acme", (nova) => nova.clients.change("acme", { name: "Acme Ltd" })],
    ["deletes a client", "DELETE /clients/acme", (nova) => nova.clients.delete("acme")],
    ["makes a key", "POST /keys", (nova) => nova.keys.create({ role: "viewer" })],
    ["deletes a key", "DELETE /keys/key_1", (nova) => nova.keys.delete("key_1")],
    [
      "stores a credential",
      "PUT /clients/a/credentials/api",
      (nova) => nova.credentials.set({ client: "a" }, "api", credential),
    ],
    [
      "stores a credential",
      "PUT /workflows/a/credentials/b",
      (nova) => nova.credentials.set({ workflow: "a" }, "b", credential),
    ],
    [
      "removes a credential",
      "DELETE /clients/a/credentials/api",
      (nova) => nova.credentials.remove({ client: "a" }, "api"),
    ],
    [
      "removes a credential",
      "DELETE /workflows/a/credentials/b",
      (nova) => nova.credentials.remove({ workflow: "a" }, "b"),
    ],
    ["asks for the public keys", "GET /.well-known/nova-keys.json", (nova) => nova.publicKeys()],
    ["rotates the key of proofs", "POST /signing-keys/rotate", (nova) => nova.rotateSigningKey()],
    ["re-encrypts all credentials", "POST /credentials/rotate", (nova) => nova.credentials.rotate()],
    ["asks for health", "GET /health", (nova) => nova.health()],
  ])("that %s is sent as %s", async (_what, request, work) => {
    const { server, nova } = open([request, request.startsWith("DELETE") ? { status: 204 } : { body: {} }]);
    await work(nova);
    server.expectDone();
  });

  it("for one entry of a branch asks for code, contexts and logs", async () => {
    const { nova } = open([`GET /executions/${exec}/chain/4?full=true&scope=2.a`, { body: { seq: 4 } }]);
    expect(await nova.executions.link(exec, 4, { scope: "2.a" })).toEqual({ seq: 4 });
  });

  it("writes its body and parses its answer with the JSON functions that the caller gives", async () => {
    const server = new ScriptedServer(["POST /workflows/a/execute", { body: '{"execution_id":12345678901234567890}' }]);
    const nova = createClient({
      apiKey: "key",
      fetch: server.fetch,
      url: "https://nova.example.com",
      parse: (text) => text,
      stringify: () => "850.0",
    });
    expect(await nova.executions.execute("a")).toBe('{"execution_id":12345678901234567890}');
    expect(server.sent[0]?.text).toBe("850.0");
  });
});

describe("a list in the typed client", () => {
  it("reads the next page when the caller has used all items of the previous page", async () => {
    const { server, nova } = open(
      ["GET /executions?workflow=a", page([{ execution_id: "1" }, { execution_id: "2" }], "two")],
      ["GET /executions?workflow=a&cursor=two", page([{ execution_id: "3" }])],
    );
    const found = await Array.fromAsync(nova.executions.list({ workflow: "a" }));
    expect(found.map(({ execution_id }) => execution_id)).toEqual(["1", "2", "3"]);
    server.expectDone();
  });

  it("does not read pages that the caller does not need", async () => {
    const { server, nova } = open(["GET /executions", page([{ execution_id: "1" }], "two")]);
    for await (const { execution_id } of nova.executions.list()) {
      expect(execution_id).toBe("1");
      break;
    }
    server.expectDone();
  });

  it.each<[string, (nova: NovaClient) => AsyncGenerator<unknown>]>([
    ["GET /workflows", (nova) => nova.workflows.list()],
    ["GET /workflows/a/versions", (nova) => nova.workflows.versions("a")],
    [`GET /executions/${exec}/chain?full=true`, (nova) => nova.executions.chain(exec, { full: true })],
    ["GET /tasks", (nova) => nova.tasks.list()],
    ["GET /clients", (nova) => nova.clients.list()],
    ["GET /keys", (nova) => nova.keys.list()],
    ["GET /audit", (nova) => nova.audit()],
  ])("can be read with %s", async (request, list) => {
    const { nova } = open([request, page([{ id: 1 }])]);
    expect(await Array.fromAsync(list(nova))).toEqual([{ id: 1 }]);
  });
});

describe("a run that the typed client waits for", () => {
  it("is returned without polling if it ends while the server waits", async () => {
    const { server, nova } = open(["POST /workflows/a/execute?wait=5", { body: { status: "completed", path: [] } }]);
    expect(await nova.executions.run("a", { context: { total: 1 } })).toMatchObject({ status: "completed" });
    expect(server.sent[0]?.text).toBe('{"context":{"total":1}}');
  });

  it("is polled until it ends, and every status is reported to the caller", async () => {
    vi.useFakeTimers();
    try {
      const { server, nova } = open(
        ["POST /workflows/a/execute?wait=5", { status: 202, body: { execution_id: exec, status: "running" } }],
        [`GET /executions/${exec}`, { body: { status: "queued" } }],
        [`GET /executions/${exec}`, { body: { status: "waiting" } }],
        [`GET /executions/${exec}`, { body: { status: "failed" } }],
      );
      const seen: string[] = [];
      const running = nova.executions.run("a", { onStatus: ({ status }) => seen.push(status) });
      await vi.runAllTimersAsync();
      expect(await running).toEqual({ status: "failed" });
      expect(seen).toEqual(["queued", "waiting", "failed"]);
      server.expectDone();
    } finally {
      vi.useRealTimers();
    }
  });

  it("is not cancelled when the caller stops waiting for it", async () => {
    const { nova } = open();
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(nova.executions.untilEnded(exec, { signal })).rejects.toThrow("enough");
  });
});

describe("a failed request of the typed client", () => {
  it("throws an ApiProblem with the reason and the findings if the API refuses it", async () => {
    const findings = [{ code: "NOVA404", severity: "error", path: "$.nodes[0]", message: "no such node" }];
    const body = { type: "about:blank", title: "Refused", status: 422, detail: "NOVA404: no such node", findings };
    const { nova } = open(["POST /workflows", { status: 422, body }]);
    const refused = await nova.workflows.publish({}).catch((error: ApiProblem) => error);
    expect(refused).toBeInstanceOf(ApiProblem);
    expect(refused).toMatchObject({
      name: "ApiProblem",
      status: 422,
      title: "Refused",
      message: body.detail,
      findings,
    });
  });

  it("throws a sentence even if the body of the answer is not JSON", async () => {
    const { nova } = open(["GET /health", { status: 500, body: "<html>" }]);
    await expect(nova.health()).rejects.toThrow(
      "the server answered 500 and did not say why - ask the operator of the server",
    );
  });

  it("throws ApiUnreachable if the answer is an HTML page with status 200", async () => {
    const { nova } = open(["GET /health", { body: "<html>" }]);
    await expect(nova.health()).rejects.toThrow(ApiUnreachable);
  });
});

it("an upload of the typed client throws ApiUnreachable if its URL does not answer", async () => {
  const ticket = { id: "upl_1", url: "http://127.0.0.1:1/bytes", method: "PUT", headers: {} };
  const { nova } = open(["POST /uploads", { status: 201, body: ticket }]);
  const sending = nova.upload(new Uint8Array(1), { bytes: 1 });
  await expect(sending).rejects.toMatchObject({
    name: "ApiUnreachable",
    message: expect.stringMatching(/^http:\/\/127.0.0.1:1 cannot be reached/),
  });
});
