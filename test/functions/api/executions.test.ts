import { beforeAll, describe, expect, it, vi } from "vitest";
import { inARow } from "../../support/cloud.ts";
import { expectRefusal, useApi } from "./support/api.ts";
import { asking, askingForEach } from "./support/flows.ts";

const api = useApi();

beforeAll(async () => {
  const code = 'context["sum"] = 1.50\ncontext["seen"] = context.get("total")';
  await api.call("POST /workflows", { body: inARow("adding", { add: code }) });
  await api.call("POST /workflows", { body: inARow("failing", { fall: "raise ValueError('no total')" }) });
  await api.call("POST /workflows", { body: asking });
  const inputs = { type: "object", required: ["total"], properties: { total: { type: "number" } } };
  await api.call("POST /workflows", { body: inARow("strict", { add: code }, { inputs }) });
});

async function run(workflow: string, body: unknown = {}): Promise<string> {
  return (await api.call(`POST /workflows/${workflow}/execute?wait=20`, { body })).body.execution_id;
}

describe("the API route that executes a workflow", () => {
  it("answers 202 with the id of the run, or answers 200 with the result if the run ends while the caller waits", async () => {
    const started = await api.call("POST /workflows/adding/execute", { body: {} });
    expect([started.status, started.body.status]).toEqual([202, "running"]);
    expect(started.headers.get("location")).toBe(`/executions/${started.body.execution_id}`);
    const ended = await api.call("POST /workflows/adding/execute?wait=20", { body: {} });
    expect(ended.status).toBe(200);
    expect(ended.body).toMatchObject({ status: "completed", path: ["start", "add", "end"], error: null });
  });

  it("keeps and returns the numbers of a context exactly as the caller wrote them", async () => {
    const context = '{"total": 850.0, "number": 12345678901234567890, "deep": [{"x": 1e2, "y": -0.10}]}';
    const body = `{"context": ${context}, "client_slug": "default"}`;
    const { text } = await api.call("POST /workflows/adding/execute?wait=20", { body });
    for (const part of ['"number":12345678901234567890', '"total":850.0', '"x": 1e2, "y": -0.10', '"seen":850.0']) {
      expect(text).toContain(part);
    }
  });

  it("reports the node and the reason of a failed run", async () => {
    const { status, body } = await api.call("POST /workflows/failing/execute?wait=20", { body: {} });
    expect([status, body.status]).toEqual([200, "failed"]);
    expect(body.error).toMatchObject({ node: "fall", class: "NodeFailed", message: expect.stringMatching(/no total/) });
  });

  it("answers 202 if the run takes longer than the caller waits", async () => {
    const { status, body } = await api.call("POST /workflows/asking/execute?wait=1", { body: {} });
    expect([status, body.status]).toEqual([202, "waiting"]);
  });

  it("refuses a context that does not fit the inputs, with findings", async () => {
    const { status, body } = await api.call("POST /workflows/strict/execute", { body: { context: { total: "much" } } });
    expect([status, body.findings]).toMatchObject([422, [{ severity: "error" }]]);
  });

  it.each([
    ["an unknown workflow", "nobody", {}, 404],
    ["an unknown version", "adding", { version: 9 }, 404],
    ["an unknown client", "adding", { client_slug: "nobody" }, 404],
    ["an unknown field", "adding", { contexts: {} }, 422],
    ["a context that is a list", "adding", { context: [] }, 422],
    ["a context that is a text", "adding", { context: "{}" }, 422],
    ["a body that is a list", "adding", [], 422],
    ["a body that is no JSON", "adding", "{", 400],
    ["a fresh node that has no prompt", "adding", { fresh: ["add"] }, 422],
    ["fresh nodes in a frozen run", "adding", { fresh: ["add"], frozen: true }, 422],
    ["half of a surrogate pair", "adding", String.raw`{"context": {"a": "\ud800"}}`, 400],
    ["half of a surrogate pair inside a value", "adding", String.raw`{"context": {"a": {"b": ["x", "\udc00y"]}}}`, 400],
    ["a key that only NOVA may use", "adding", { context: { $blob: 1 } }, 422],
  ])("refuses a request with %s", async (_what, workflow, body, status) => {
    expect((await api.call(`POST /workflows/${workflow}/execute`, { body })).status).toBe(status);
  });

  it("reports where a context contains half of a surrogate pair, and accepts whole pairs", async () => {
    const execute = (context: string) =>
      api.call("POST /workflows/adding/execute?wait=20", { body: `{"context": ${context}}` });
    const { body } = await execute(String.raw`{"a": {"b": ["x", "\udc00y"]}}`);
    expect(body.errors).toEqual([
      { path: "$.context.a.b[1]", message: expect.stringMatching(/half a character.* - send/) },
    ]);
    expect((await execute(String.raw`{"a": ["\ud83d\ude00"]}`)).body.context).toMatchObject({ a: ["😀"] });
  });

  it.each(["-1", "26", "long", "1e1", ""])("refuses to wait %j seconds", async (wait) => {
    expect((await api.call(`POST /workflows/adding/execute?wait=${wait}`, { body: {} })).status).toBe(400);
  });
});

describe("an execution in the API", () => {
  it("can be read with its context, its chain and the result of verify", async () => {
    const id = await run("adding", { context: { total: 5 } });
    expect((await api.call(`GET /executions/${id}`)).body).toMatchObject({ status: "completed", workflow: "adding" });
    const { body: chain } = await api.call(`GET /executions/${id}/chain?limit=2`);
    expect(chain.items.map((entry: { node_id: string }) => entry.node_id)).toEqual(["start", "add"]);
    const { body: rest } = await api.call(`GET /executions/${id}/chain?limit=200&cursor=${chain.next_cursor}`);
    expect(rest.items.map((entry: { seq: number }) => entry.seq)).toEqual([2, 3]);
    expect(chain.items[1]).not.toHaveProperty("code_executed");
    const { body: entry } = await api.call(`GET /executions/${id}/chain/1?full`);
    expect(entry).toMatchObject({ code_executed: expect.stringMatching(/1\.50/), input_context: { total: 5 } });
    expect((await api.call(`GET /executions/${id}/chain/99`)).status).toBe(404);
    const { body: verified } = await api.call(`GET /executions/${id}/verify`);
    expect(verified).toEqual({
      execution_id: id,
      state: "anchored",
      links: 4,
      erased: [],
      source_gone: [],
      problem: null,
    });
  });

  it("is not read completely if the request names only one entry", async () => {
    const id = await run("adding", { context: { total: 5 } });
    const { chain } = api.ports;
    const read: number[] = [];
    api.ports.chain = {
      ...chain,
      links: () => expect.unreachable("the whole chain is read"),
      read(at) {
        read.push(at.seq);
        return chain.read(at);
      },
    };
    try {
      expect((await api.call(`GET /executions/${id}/chain/2`)).body).toMatchObject({ seq: 2, node_id: "end" });
      expect((await api.call(`GET /executions/${id}/chain/1?full`)).body.input_context).toEqual({ total: 5 });
      expect(read).toEqual([2, 1, 0]);
    } finally {
      api.ports.chain = chain;
    }
  });

  it("can be cancelled, and the response reports the status of the execution if it has already ended", async () => {
    const { body } = await api.call("POST /workflows/asking/execute", { body: {} });
    const cancelled = { execution_id: body.execution_id, status: "cancelled" };
    expect((await api.call(`POST /executions/${body.execution_id}/cancel`)).body).toEqual(cancelled);
    expect((await api.call(`POST /executions/${body.execution_id}/cancel`)).body).toEqual(cancelled);
    const id = await run("adding");
    expect((await api.call(`POST /executions/${id}/cancel`)).body.status).toBe("completed");
  });
});

describe("large values of a context", () => {
  it("are returned completely, except bytes, which are returned as references", async () => {
    const code =
      'context["letters"] = "x" * 100_000\ncontext["rows"] = {"n": [1.50] * 9000}\ncontext["raw"] = bytes(9)\ncontext["own"] = {"$blob": 1}';
    await api.call("POST /workflows", { body: inARow("large", { make: code }) });
    const { text, body } = await api.call("POST /workflows/large/execute?wait=20", { body: {} });
    expect(body.context.letters).toBe("x".repeat(100_000));
    expect(body.context.rows.n).toHaveLength(9000);
    expect(text).toContain("[1.5,1.5");
    expect(body.context.raw).toMatchObject({ $blob: { bytes: 9, type: "bytes" } });
    const { body: link } = await api.call(`GET /executions/${body.execution_id}/chain/1?full`);
    expect(link.output_result).toEqual(body.context);
    expect(body.context.own).toEqual({ $blob: 1 });
    const { body: referring } = await api.call(`GET /executions/${body.execution_id}/chain/1?full&references`);
    expect(referring.output_result).toMatchObject({ letters: { $blob: { type: "text" } }, own: { $$blob: 1 } });
    const { sha256 } = body.context.raw.$blob;
    const { body: shown } = await api.call(`GET /executions/${body.execution_id}/blobs/${sha256}?as=application/pdf`);
    const bytes = await fetch(shown.url);
    expect([bytes.headers.get("content-type"), (await bytes.bytes()).length]).toEqual(["application/pdf", 9]);
    const { body: stored } = await api.call(`GET /executions/${body.execution_id}?references`);
    expect(stored.context.own).toEqual({ $$blob: 1 });
  });
});

describe("the list of executions", () => {
  it("is sorted newest first, comes in pages, and can be filtered by workflow and status", async () => {
    const ids = [await run("failing"), await run("failing")].reverse();
    const { body: first } = await api.call("GET /executions?workflow=failing&status=failed&limit=1");
    expect(first.items).toMatchObject([{ execution_id: ids[0], status: "failed", client: "default" }]);
    const next = `GET /executions?workflow=failing&status=failed&limit=1&cursor=${first.next_cursor}`;
    expect((await api.call(next)).body.items[0].execution_id).toBe(ids[1]);
    expect((await api.call("GET /executions?workflow=failing&status=completed")).body.items).toEqual([]);
    expect((await api.call("GET /executions?limit=200")).body.items.length).toBeGreaterThan(5);
  });

  it("can be filtered by the class of the errors that ended runs", async () => {
    const id = await run("failing");
    const { body } = await api.call("GET /executions?error_class=NodeFailed&limit=1");
    expect(body.items).toMatchObject([{ execution_id: id, trigger: null }]);
    expect((await api.call("GET /executions?error_class=NodeTimeout")).body).toMatchObject({
      items: [],
      next_cursor: null,
    });
    expect((await api.call("GET /executions?trigger=nobody")).body.items).toEqual([]);
  });

  it("can be filtered by time", async () => {
    expect((await api.call("GET /executions?to=2020-01-01")).body.items).toEqual([]);
    expect((await api.call("GET /executions?from=2999-01-01")).body.items).toEqual([]);
    expect((await api.call("GET /executions?from=2999-01-01&to=2020-01-01T00:00:00Z")).body.items).toEqual([]);
    expect((await api.call("GET /executions?from=2020-01-01&limit=1")).body.items).toHaveLength(1);
  });

  it.each([
    "cursor=abc",
    "cursor=%F0",
    "limit=0",
    "limit=201",
    "status=done",
    "from=yesterday",
    "client=A%20B",
    "error_class=a-b",
    "trigger=",
  ])("refuses %s", async (query) => {
    expect((await api.call(`GET /executions?${query}`)).status).toBe(400);
  });
});

describe("a task of an execution", () => {
  async function waiting(): Promise<{ task_id: string; execution_id: string }> {
    const { body: run } = await api.call("POST /workflows/asking/execute", { body: {} });
    return vi.waitFor(async () => {
      const { body } = await api.call("GET /tasks?limit=200");
      const task = body.items.find((item: { execution_id: string }) => item.execution_id === run.execution_id);
      const whole = (await api.call(`GET /tasks/${task.task_id}`)).body;
      expect(whole).toEqual({ ...task, scope: "", seq: 1, named: [], outcome: null });
      expect(task).toMatchObject({
        status: "open",
        answered_at: null,
        node: "ask",
        message: "Go on?",
        choices: ["approved", "rejected"],
      });
      return task;
    });
  }

  it("takes only one answer, and stores the numbers of this answer exactly as they were sent", async () => {
    const { task_id, execution_id } = await waiting();
    const body = '{"choice": "approved", "data": {"total": 850.0}, "by": "ann"}';
    const answered = await api.call(`POST /tasks/${task_id}`, { body });
    expect(answered.body).toMatchObject({ task_id, execution_id, node: "ask", choice: "approved", sent: true });
    await vi.waitFor(async () => {
      const { text } = await api.call(`GET /executions/${execution_id}`);
      expect(text).toMatch(/"status":"completed".*"data":\{"total": 850.0\},"by":"ann"/);
    });
    const { body: over, text } = await api.call(`GET /tasks/${task_id}`);
    expect(over).toMatchObject({ status: "answered", answered_at: answered.body.at, message: "Go on?" });
    expect(over.outcome).toMatchObject({ choice: "approved", by: "ann", at: answered.body.at });
    expect(text).toContain('"data":{"total": 850.0}');
    const late = await api.call(`POST /tasks/${task_id}`, { body: { choice: "rejected" } });
    expect([late.status, late.body.detail]).toEqual([409, expect.stringMatching(/already answered by|is over/)]);
  });

  it("shows the values of its item if it is in the body of a map, even for the first node of the body", async () => {
    expect((await api.call("POST /workflows", { body: askingForEach })).body).toMatchObject({ version: 1 });
    const { body: run } = await api.call("POST /workflows/asking-for-each/execute", {
      body: '{"context": {"lines": [{"price": 850.0}, {"price": 12345678901234567890}]}}',
    });
    const open = await vi.waitFor(async () => {
      const { items } = (await api.call("GET /tasks?limit=200")).body;
      const own = items.filter((item: { execution_id: string }) => item.execution_id === run.execution_id);
      expect(own).toHaveLength(2);
      return own as { task_id: string }[];
    }, 20_000);
    const told = await Promise.all(open.map(({ task_id }) => api.call(`GET /tasks/${task_id}`)));
    const [first, second] = told.sort((one, other) => (one.body.scope < other.body.scope ? -1 : 1));
    expect(first?.text).toContain('"named":[{"path":"index","value":0},{"path":"line.price","value":850.0}]');
    expect(second?.text).toContain('{"path":"line.price","value":12345678901234567890}');
    expect([first, second].map((one) => one?.body.seq)).toEqual([1, 1]);
    await api.call(`POST /executions/${run.execution_id}/cancel`);
  });

  it("refuses a choice that it does not offer, and data that does not fit its form", async () => {
    const { task_id } = await waiting();
    const choice = await api.call(`POST /tasks/${task_id}`, { body: { choice: "perhaps" } });
    expect([choice.status, choice.body.detail]).toEqual([
      422,
      '"perhaps" is no choice of "ask" - choose approved or rejected',
    ]);
    const data = await api.call(`POST /tasks/${task_id}`, { body: { choice: "approved", data: { reason: 5 } } });
    expect([data.status, data.body.detail]).toEqual([422, expect.stringMatching(/form of "ask" refuses/)]);
  });

  it("can be answered with the ids of its execution and its node, if the execution has such a task", async () => {
    const { task_id, execution_id } = await waiting();
    const at = `POST /executions/${execution_id}/answer`;
    await expectRefusal(
      api.call(at, { body: { node: "asks", choice: "approved" } }),
      409,
      /no approval "asks" - its .* "ask"/,
    );
    const misfit = await api.call(at, { body: { choice: "approved", data: { reason: 5 } } });
    expect(misfit.status).toBe(422);
    expect((await api.call(at, { body: { choice: "approved" } })).body).toMatchObject({ task_id, sent: true });
    const late = await api.call(at, { body: { choice: "approved", data: { reason: 5 } } });
    expect([late.status, late.body.detail]).toEqual([409, expect.stringMatching(/already answered by|is over/)]);
    const absent = await api.call(`POST /executions/exec_${"0".repeat(26)}/answer`, { body: { choice: "approved" } });
    expect(absent.status).toBe(404);
  });

  it("causes the status 404 if its id is unknown", async () => {
    const nobody = `task_${"0".repeat(26)}`;
    expect((await api.call(`GET /tasks/${nobody}`)).status).toBe(404);
    expect((await api.call(`POST /tasks/${nobody}`, { body: { choice: "approved" } })).status).toBe(404);
  });
});
