import { untilEnded } from "@nova/service";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { routes } from "../../../functions/api/routes/index.ts";
import { inARow } from "../../support/cloud.ts";
import { useApi } from "./support/api.ts";

const api = useApi();

const password = "hunter2 <Pässword> & 'more'";
const pin = 82_914_406;
const secrets = { password, pin, login: { token: "tok-5512-zebra", "key@of data": "k" } };

/** All spellings of the secrets that an answer could contain. */
const spellings = [password, "tok-5512-zebra", "key@of data", String(pin), "other-secret-9"].flatMap((secret) => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  encodeURIComponent(secret).toLowerCase(),
  secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
  Buffer.from(secret).toString("base64").replace(/=+$/, "").slice(0, -1),
  Buffer.from(secret).toString("hex"),
]);

const inputs = {
  properties: {
    password: { type: "string", secret: true },
    pin: { type: "integer", secret: true },
    login: { type: "object", secret: true },
  },
};

const guarded = {
  id: "guarded",
  inputs,
  triggers: [{ type: "webhook", id: "guarded-hook", client: "acme" }],
  nodes: [
    { id: "start", type: "start" },
    { id: "read", type: "action", code: 'print(context["password"], context["login"])\ncontext["n"] = 1' },
    { id: "ask", type: "approval", message: "Is {{password}} with {{pin}} right for {{login.token}}?" },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "read" },
    { from: "read", to: "ask" },
    { from: "ask", to: "end", condition: "approved" },
    { from: "ask", to: "end", condition: "rejected" },
  ],
};
const failing = inARow(
  "failing",
  { fail: 'raise ValueError(context["password"] + context["login"]["token"])' },
  { inputs },
);
const plain = inARow("plain", { a: 'context["a"] = 1', b: 'context["b"] = len(context["password"])' }, { inputs });

/** Existing ids by parameter name. */
const known: Record<string, string> = {};
const address = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name) => known[name] ?? `no-${name}`);

const call = async (request: string, body?: unknown) => {
  const answer = await api.call(address(request), body === undefined ? {} : { body });
  expectNoSecret(`${request}: `, answer.text + JSON.stringify([...answer.headers]));
  return answer;
};

function expectNoSecret(name: string, text: string): void {
  const found = spellings.filter((one) => text.includes(one));
  expect([name, found]).toEqual([name, []]);
}

beforeAll(async () => {
  await call("POST /clients", { slug: "acme", name: "Acme" });
  for (const workflow of [guarded, failing, plain])
    expect(await call("POST /workflows", workflow)).toMatchObject({ status: 201 });
  const { body: run } = await call("POST /workflows/guarded/execute", { context: secrets, client_slug: "acme" });
  const { body: failed } = await call("POST /workflows/failing/execute?wait=20", {
    context: secrets,
    client_slug: "acme",
  });
  const session = await call("POST /sessions", { workflow: "plain", context: secrets, client_slug: "acme" });
  Object.assign(known, { run: run.execution_id, failed: failed.execution_id, session: session.body.session_id });
  await vi.waitFor(async () => expect((await call("GET /tasks")).body.items).toHaveLength(1), 30_000);
  known.task = (await call("GET /tasks")).body.items[0].task_id;
}, 90_000);

/** Requests by route, in the order in which the test sends them. */
const requests: Record<string, [request: string, body?: unknown, status?: number][]> = {
  "GET /executions": [["GET /executions"]],
  "GET /executions/{id}": [
    ["GET /executions/{run}"],
    ["GET /executions/{run}?references"],
    ["GET /executions/{failed}"],
  ],
  "GET /executions/{id}/chain": [["GET /executions/{run}/chain?full"], ["GET /executions/{failed}/chain?full"]],
  "GET /executions/{id}/chain/{seq}": [
    ...[0, 1].map((seq): [string] => [`GET /executions/{run}/chain/${seq}?full`]),
    ["GET /executions/{run}/chain/0?full&references"],
    ["GET /executions/{failed}/chain/1?full"],
  ],
  "GET /executions/{id}/chain/{seq}/logs": [["GET /executions/{run}/chain/1/logs"]],
  "GET /executions/{id}/verify": [["GET /executions/{run}/verify"]],
  "GET /verifications": [["GET /verifications"]],
  "GET /executions/{a}/diff/{b}": [["GET /executions/{run}/diff/{failed}"]],
  "GET /executions/{id}/blobs/{sha256}": [[`GET /executions/{run}/blobs/${"0".repeat(64)}`, undefined, 404]],
  "GET /tasks": [["GET /tasks"], ["GET /tasks?kind=event"]],
  "GET /tasks/{id}": [["GET /tasks/{task}"]],
  "POST /tasks/{id}": [["POST /tasks/{task}", { choice: "maybe", data: { total: "?" } }, 422]],
  "POST /executions/{id}/answer": [["POST /executions/{run}/answer", { choice: "approved" }]],
  "GET /sessions": [["GET /sessions"]],
  "GET /sessions/{id}": [["GET /sessions/{session}"]],
  "POST /sessions": [
    ["POST /sessions", { workflow: "plain", context: secrets }, 201],
    ["POST /sessions", { workflow: "plain", context: { ...secrets, pin: password } }, 422],
  ],
  "POST /sessions/{id}/nodes": [["POST /sessions/{session}/nodes", { id: "c", code: "pass" }, 201]],
  "POST /sessions/{id}/edges": [["POST /sessions/{session}/edges", { from: "b", to: "c" }, 201]],
  "PATCH /sessions/{id}/nodes/{node}": [["PATCH /sessions/{session}/nodes/c", { code: 'context["c"] = 1' }]],
  "POST /sessions/{id}/run": [["POST /sessions/{session}/run"]],
  "POST /sessions/{id}/nodes/{node}/run": [
    ["POST /sessions/{session}/nodes/b/run", { context_data: { "id:a": { password: "other-secret-9" } } }],
  ],
  "PUT /sessions/{id}/nodes/{node}/output": [
    ["PUT /sessions/{session}/nodes/a/output", { output: { a: 2, password } }, 422],
    ["PUT /sessions/{session}/nodes/a/output", { output: { a: 2, password: "other-secret-9", login: 5 } }],
    ["PUT /sessions/{session}/nodes/c/output", { output: { c: password } }, 422],
    ["PUT /sessions/{session}/nodes/c/output", { output: { c: [{ [encodeURIComponent(password)]: 1 }] } }, 422],
  ],
  "GET /sessions/{id}/outputs": [["GET /sessions/{session}/outputs"], ["GET /sessions/{session}/outputs?node=a"]],
  "POST /add_node": [["POST /add_node", { session_id: "{session}", node_id: "d", prompt_text: "Say {password}." }]],
  "POST /add_edge": [["POST /add_edge", { session_id: "{session}", from_node: "c", to_node: "d" }]],
  "POST /get_node_outputs": [["POST /get_node_outputs", { session_id: "{session}" }]],
  "POST /validate_template": [
    [
      "POST /validate_template",
      { session_id: "{session}", prompt_text: "{a} {a.password} {password} {start.password}" },
    ],
  ],
  "POST /generate_text_node": [
    ["POST /generate_text_node", { session_id: "{session}", prompt_text: "{a.password} and {a}" }, 422],
  ],
  "POST /execute": [["POST /execute", { session_id: "{session}", initial_inputs: { ...secrets, more: 1 } }]],
  "POST /sessions/{id}/publish": [["POST /sessions/{session}/publish", { workflow: "published" }, 201]],
  "DELETE /sessions/{id}/edges": [["DELETE /sessions/{session}/edges?from=c&to=d"]],
  "DELETE /sessions/{id}/nodes/{node}": [["DELETE /sessions/{session}/nodes/d"]],
  "GET /workflows": [["GET /workflows"]],
  "POST /workflows": [["POST /workflows", guarded, 200]],
  "GET /workflows/{id}": [["GET /workflows/guarded"]],
  "PUT /workflows/{id}": [["PUT /workflows/guarded", guarded]],
  "POST /workflows/validate": [["POST /workflows/validate", guarded]],
  "GET /workflows/{id}/asl": [["GET /workflows/guarded/asl"]],
  "GET /workflows/{id}/findings": [["GET /workflows/guarded/findings"]],
  "GET /workflows/{id}/versions": [["GET /workflows/guarded/versions"]],
  "GET /workflows/{id}/quotas": [["GET /workflows/guarded/quotas"]],
  "PUT /workflows/{id}/quotas": [["PUT /workflows/guarded/quotas", { max_concurrent: 3 }]],
  "GET /workflows/{id}/generations": [["GET /workflows/guarded/generations"]],
  "POST /workflows/{id}/generations/review": [["POST /workflows/guarded/generations/review", {}, 422]],
  "POST /workflows/{id}/activate": [["POST /workflows/guarded/activate", { version: 1 }]],
  "POST /workflows/{id}/pause": [["POST /workflows/failing/pause"]],
  "POST /workflows/{id}/resume": [["POST /workflows/failing/resume"]],
  "POST /workflows/{id}/schedules/{trigger}/pause": [["POST /workflows/guarded/schedules/none/pause", undefined, 404]],
  "POST /workflows/{id}/schedules/{trigger}/resume": [
    ["POST /workflows/guarded/schedules/none/resume", undefined, 404],
  ],
  "POST /workflows/{id}/execute": [
    ["POST /workflows/plain/execute?wait=20", { context: secrets }],
    ["POST /workflows/plain/execute", { context: { ...secrets, pin: password } }, 422],
    ["POST /workflows/plain/execute", { context: { ...secrets, login: password } }, 422],
    ["POST /workflows/plain/execute", { context: { ...secrets, password: pin } }, 422],
  ],
  "POST /hooks/{id}": [["POST /hooks/guarded-hook", secrets, 202]],
  "POST /executions/{id}/restart": [
    ["POST /executions/{failed}/restart", { context_patch: { password: "third-secret" }, dry_run: true }],
    ["POST /executions/{failed}/restart?wait=20", { context_patch: { login: { token: "tok-5512-zebra" } } }],
  ],
  "POST /executions/{id}/cancel": [["POST /executions/{run}/cancel"]],
  "POST /events": [["POST /events", { source: "a", type: "b", detail: { n: 1 } }]],
  "GET /deliveries": [["GET /deliveries"]],
  "GET /schedules": [["GET /schedules"]],
  "GET /audit": [["GET /audit?limit=200"]],
  "GET /clients": [["GET /clients"]],
  "POST /clients": [["POST /clients", { slug: "other", name: "Other" }, 201]],
  "GET /clients/{slug}": [["GET /clients/acme"]],
  "PATCH /clients/{slug}": [["PATCH /clients/acme", { name: "Acme Ltd" }]],
  "GET /keys": [["GET /keys"]],
  "POST /keys": [["POST /keys", { role: "viewer" }, 201]],
  "POST /uploads": [["POST /uploads", { bytes: 3 }, 201]],
  "GET /health": [["GET /health"]],
  "GET /formats": [["GET /formats"]],
  "GET /openapi.json": [["GET /openapi.json"]],
};

/** Routes whose answers contain no context, or which export all stored data for an administrator. */
const without = [
  /^(GET|PUT|DELETE) .*\/credentials/,
  /^POST \/credentials\/rotate$/,
  /^GET \/analytics\//,
  /^GET \/clients\/\{slug\}\/export$/,
  /^DELETE \/(workflows|keys|clients|sessions)\/\{\w+\}$/,
  /^POST \/executions\/\{id\}\/erase$/,
];

describe("an answer of the API", { timeout: 120_000 }, () => {
  it.each(Object.entries(requests))("of %s shows no secret input in any spelling", async (_route, all) => {
    for (const [request, body, status] of all) {
      const sent = body && JSON.parse(JSON.stringify(body).replace("{session}", known.session ?? ""));
      const answer = await call(request, sent);
      const expected = status === undefined ? [200, 202] : [status];
      expect([request, answer.text, expected]).toEqual([request, answer.text, expect.arrayContaining([answer.status])]);
    }
  });

  it("is tested for every route of the document", () => {
    const all = routes.map(({ method, path }) => `${method} ${path}`);
    expect(all.filter((route) => !(route in requests) && !without.some((one) => one.test(route)))).toEqual([]);
    expect(Object.keys(requests).filter((route) => !all.includes(route))).toEqual([]);
  });

  it("about a session shows *** in place of a secret input", async () => {
    const { body } = await call("GET /sessions/{session}");
    expect(body.context).toMatchObject({ password: "***", pin: "***", login: "***" });
  });

  it("shows no secret of a run after the deletion of its session", async () => {
    const made = await call("POST /sessions", { workflow: "plain", context: secrets });
    const { body } = await call(`POST /sessions/${made.body.session_id}/run?wait=20`);
    await untilEnded(api.ports, body.execution_id, 20_000);
    await call(`DELETE /sessions/${made.body.session_id}`);
    const { body: run } = await call(`GET /executions/${body.execution_id}`);
    expect(run.context).toMatchObject({ password: "***", a: 1 });
    await call(`GET /executions/${body.execution_id}/chain?full`);
  });
});
