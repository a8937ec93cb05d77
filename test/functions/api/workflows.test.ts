import { describe, expect, it } from "vitest";
import { inARow } from "../../support/cloud.ts";
import { expectRefusal, useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();
const greeting = (text: string) => inARow("greeting", { greet: `context["greeting"] = ${JSON.stringify(text)}` });

describe("the publication of a workflow", () => {
  it("returns id, version and status, and makes no new version if the same definition is published again", async () => {
    const first = await api.call("POST /workflows", { body: greeting("hello") });
    expect([first.status, first.body]).toEqual([201, { id: "greeting", version: 1, status: "ready" }]);
    const again = await api.call("POST /workflows", { body: greeting("hello") });
    expect([again.status, again.body]).toEqual([200, { id: "greeting", version: 1, status: "ready" }]);
    const next = await api.call("PUT /workflows/greeting", { body: greeting("good day") });
    expect([next.status, next.body.version]).toEqual([201, 2]);
  });

  it("makes the workflow, its versions, its definition and its state machine readable", async () => {
    const { body: list } = await api.call("GET /workflows");
    expect(list).toMatchObject({ items: [{ id: "greeting", version: 2, active_version: 2 }], next_cursor: null });
    const { body: one } = await api.call("GET /workflows/greeting?version=1");
    expect(one).toMatchObject({ version: 1, definition: { id: "greeting" } });
    const { body: page } = await api.call("GET /workflows/greeting/versions?limit=1");
    expect(page.items).toMatchObject([{ version: 2, active: true, status: "ready" }]);
    const { body: rest } = await api.call(`GET /workflows/greeting/versions?limit=1&cursor=${page.next_cursor}`);
    expect([rest.items[0].version, rest.next_cursor]).toEqual([1, null]);
    expect((await api.call("GET /workflows/greeting/asl")).body.StartAt).toEqual(expect.any(String));
  });

  it("is refused with all findings of an invalid definition", async () => {
    const wrong = { id: "wrong", nodes: [{ id: "start", type: "start" }], edges: [{ from: "start", to: "nowhere" }] };
    const { status, headers, body } = await api.call("POST /workflows", { body: wrong });
    expect([status, headers.get("content-type")]).toEqual([422, "application/problem+json"]);
    expect(body.findings.length).toBeGreaterThan(0);
    const { body: validated } = await api.call("POST /workflows/validate", { body: wrong });
    expect(validated).toEqual({ valid: false, findings: body.findings });
    expect((await api.call("GET /workflows/wrong")).status).toBe(404);
  });

  it("lets a caller read the findings of its version later, with node and line", async () => {
    expect((await api.call("GET /workflows/greeting/findings?version=1")).body).toEqual({ valid: true, findings: [] });
    const warned = { ...inARow("warned", { greet: "\nimport requests_missing" }), id: "warned" };
    const { body: published } = await api.call("POST /workflows", { body: warned });
    expect(published.findings).toMatchObject([{ code: "NOVA608" }]);
    const { body } = await api.call("GET /workflows/warned/findings");
    expect(body).toEqual({ valid: true, findings: published.findings });
    expect(body.findings).toMatchObject([{ severity: "warning", path: "$.nodes[1].code", line: 2 }]);
    expect((await api.call("GET /workflows/warned/findings?version=7")).status).toBe(404);
    expect((await api.call("DELETE /workflows/warned")).status).toBe(204);
  });

  it("reveals nothing about other clients to an API key of one client", async () => {
    for (const slug of ["acme", "globex"]) await api.call("POST /clients", { body: { slug, name: slug } });
    const triggersOf = (client: string) => [
      { type: "webhook", id: "globex-orders", client },
      { type: "mail", address: "globex-invoices", client },
    ];
    const theirs = { ...greeting("hello"), id: "theirs", triggers: triggersOf("globex") };
    expect((await api.call("POST /workflows", { body: theirs })).status).toBe(201);
    const key = await api.key("viewer", "acme");
    const probe = { ...greeting("hello"), id: "probe", triggers: triggersOf("acme") };
    const { body: told } = await api.call("POST /workflows/validate", { body: probe, key });
    expect(told).toEqual({ valid: true, findings: [] });
    const { body: known } = await api.call("POST /workflows/validate", { body: probe });
    expect(known.findings).toMatchObject([{ code: "NOVA127" }, { code: "NOVA127" }]);
    const [there, absent] = await Promise.all(
      ["globex", "nobody"].map(async (client) => {
        const body = { ...probe, triggers: [{ type: "schedule", every: "1h", client }] };
        const { text } = await api.call("POST /workflows/validate", { body, key });
        return text.replaceAll(client, "...");
      }),
    );
    expect(there).toBe(absent);
    expect(there).toContain("NOVA128");
    await api.call("DELETE /workflows/theirs");
  });

  it("includes the files that a definition names", async () => {
    const definition = inARow("in-files", { work: { codeFile: "work.py" } });
    const files = { "work.py": "context['n'] = 1\n" };
    const { body } = await api.call("POST /workflows/validate", { body: { definition, files } });
    expect(body).toEqual({ valid: true, findings: [] });
    const { body: without } = await api.call("POST /workflows/validate", { body: { definition } });
    expect(without.findings).toMatchObject([{ code: "NOVA404" }]);
  });

  it.each([
    ["another id", greeting("hello"), "greeting"],
    ["a name that implies another id", { ...greeting("hello"), id: undefined, name: "Many" }, "many"],
  ])("is refused if the definition has %s than the path", async (_, body, id) => {
    const { status, body: problem } = await api.call("PUT /workflows/other", { body });
    const detail = `the definition's id (of its name, where it has none) is "${id}", the address says "other" - write "id": "other" into it, or send it to the other address`;
    expect([status, problem.detail]).toEqual([422, detail]);
  });

  it("keeps the numbers in triggers exactly as they are written", async () => {
    const context = '{"a":9007199254740993,"b":850.0,"c":1e-200,"d":-0}';
    const pattern = '{"detail":{"n":[12345678901234567890,1e200]}}';
    const triggers = `[{"type":"schedule","every":"1d","context":${context}},{"type":"event","pattern":${pattern}}]`;
    const body = JSON.stringify({ ...greeting("hello"), id: "exact", triggers: "-" }).replace('"-"', triggers);
    expect((await api.call("POST /workflows", { body })).body.status).toBe("ready");
    const { text } = await api.call("GET /workflows/exact");
    expect(text).toContain(`"context":${context}`);
    expect(text).toContain(`"pattern":${pattern}`);
    expect((await api.call("POST /workflows", { body })).status).toBe(200);
    await api.call("DELETE /workflows/exact");
  });

  it("is refused if a node calls a workflow that does not exist", async () => {
    const calling = inARow("calling", { call: { type: "workflow", workflow: "nobody" } });
    const { status, body } = await api.call("POST /workflows", { body: calling });
    expect([status, body.findings]).toMatchObject([422, [{ message: expect.stringMatching(/no workflow "nobody"/) }]]);
  });
});

describe("the activation of a version", () => {
  it("makes new runs use this version until the next publication", async () => {
    const activated = await api.call("POST /workflows/greeting/activate", { body: { version: 1 } });
    expect(activated.body).toEqual({ id: "greeting", active_version: 1 });
    const { body } = await api.call("POST /workflows/greeting/execute?wait=20", { body: {} });
    expect(body).toMatchObject({ status: "completed", version: 1, context: { greeting: "hello" } });
    await api.call("POST /workflows", { body: greeting("good morning") });
    expect((await api.call("GET /workflows/greeting")).body).toMatchObject({ version: 3, active_version: 3 });
  });

  it.each([
    [{ version: 99 }, 404],
    [{ version: 0 }, 422],
    [{}, 422],
    [{ version: 1, more: true }, 422],
  ])("with %j gets status %i", async (body, status) => {
    expect((await api.call("POST /workflows/greeting/activate", { body })).status).toBe(status);
  });
});

describe("the deletion of a workflow", () => {
  it("is refused while runs are open, and afterwards ended runs can be read and a new publication gets the next version", async () => {
    await api.call("POST /workflows", { body: asking });
    const { body: run } = await api.call("POST /workflows/asking/execute", { body: {} });
    await expectRefusal(api.call("DELETE /workflows/asking"), 409, expect.stringContaining(run.execution_id));
    await api.call(`POST /executions/${run.execution_id}/cancel`);
    expect((await api.call("DELETE /workflows/asking")).status).toBe(204);
    expect((await api.call("GET /workflows/asking")).status).toBe(404);
    expect((await api.call("POST /workflows/asking/execute", { body: {} })).status).toBe(404);
    expect((await api.call("GET /workflows")).body.items).toHaveLength(1);
    expect((await api.call(`GET /executions/${run.execution_id}`)).body.status).toBe("cancelled");
    await api.call("POST /workflows", { body: asking });
    expect((await api.call("GET /workflows/asking")).status).toBe(200);
  });
});
