import { untilEnded } from "@nova/service";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Route } from "../../../functions/api/http/route.ts";
import { routes } from "../../../functions/api/routes/index.ts";
import { inARow } from "../../support/cloud.ts";
import { patternOf, useApi } from "./support/api.ts";

const api = useApi();

const password = "hunter2 <Pässword> & 'more'";
const pin = 82_914_406;
const secrets = { password, pin, login: { token: "tok-5512-zebra", "key@of data": "k" } };

/** All spellings of the secrets that a response could contain. */
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

/** Ids of existing records, by the name of the parameter. */
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

const toolCall = { jsonrpc: "2.0", id: 1, method: "tools/call" };

/**
 * The requests in the order in which the test sends them, each with its body and its expected status. Without a status,
 * the test expects 200 or 202.
 */
const requests: [request: string, body?: unknown, status?: number][] = [
  ["GET /executions"],
  ["GET /executions/{run}"],
  ["GET /executions/{run}?references"],
  ["GET /executions/{failed}"],
  ["GET /executions/{run}/chain?full"],
  ["GET /executions/{failed}/chain?full"],
  ["GET /executions/{run}/chain/0?full"],
  ["GET /executions/{run}/chain/1?full"],
  ["GET /executions/{run}/chain/0?full&references"],
  ["GET /executions/{failed}/chain/1?full"],
  ["GET /executions/{run}/chain/1/logs"],
  ["GET /executions/{run}/verify"],
  ["GET /executions/{failed}/proof?contents=all"],
  ["GET /verifications"],
  ["GET /executions/{run}/diff/{failed}"],
  [`GET /executions/{run}/blobs/${"0".repeat(64)}`, undefined, 404],
  ["GET /tasks"],
  ["GET /tasks?kind=event"],
  ["GET /tasks/{task}"],
  ["POST /tasks/{task}", { choice: "maybe", data: { total: "?" } }, 422],
  ["POST /tasks/{task}/withdraw", undefined, 409],
  ["POST /tasks/{task}/delegate", { to: "deputy@acme.example.com" }, 409],
  ["POST /executions/{run}/answer", { choice: "approved" }],
  ["GET /sessions"],
  ["GET /sessions/{session}"],
  ["POST /sessions", { workflow: "plain", context: secrets }, 201],
  ["POST /sessions", { workflow: "plain", context: { ...secrets, pin: password } }, 422],
  ["POST /sessions/{session}/nodes", { id: "c", code: "pass" }, 201],
  ["POST /sessions/{session}/edges", { from: "b", to: "c" }, 201],
  ["PATCH /sessions/{session}/nodes/c", { code: 'context["c"] = 1' }],
  ["PATCH /sessions/{session}", { settings: {} }, 422],
  ["PATCH /sessions/{session}", { name: "Other" }],
  ["GET /sessions/{session}/nodes/c/check"],
  ["POST /sessions", { run: "{failed}" }, 201],
  ["POST /sessions/{session}/edits", { operations: [{ op: "change_node", id: "c", changes: { name: "C" } }] }],
  ["POST /mcp", { ...toolCall, params: { name: "read", arguments: { draft: "{session}" } } }],
  ["POST /mcp", { ...toolCall, params: { name: "run", arguments: { draft: "{session}" } } }],
  ["POST /mcp", { ...toolCall, params: { name: "runs", arguments: {} } }],
  ["POST /mcp", { ...toolCall, params: { name: "tasks", arguments: {} } }],
  ["POST /sessions/{session}/run"],
  ["POST /sessions/{session}/nodes/b/run", { context_data: { "id:a": { password: "other-secret-9" } } }],
  ["PUT /sessions/{session}/nodes/a/output", { output: { a: 2, password } }, 422],
  ["PUT /sessions/{session}/nodes/a/output", { output: { a: 2, password: "other-secret-9", login: 5 } }],
  ["PUT /sessions/{session}/nodes/c/output", { output: { c: password } }, 422],
  ["PUT /sessions/{session}/nodes/c/output", { output: { c: [{ [encodeURIComponent(password)]: 1 }] } }, 422],
  ["GET /sessions/{session}/outputs"],
  ["GET /sessions/{session}/outputs?node=a"],
  ["POST /add_node", { session_id: "{session}", node_id: "d", prompt_text: "Say {password}." }],
  ["POST /add_edge", { session_id: "{session}", from_node: "c", to_node: "d" }],
  ["POST /get_node_outputs", { session_id: "{session}" }],
  ["POST /validate_template", { session_id: "{session}", prompt_text: "{a} {a.password} {password} {start.password}" }],
  ["POST /generate_text_node", { session_id: "{session}", prompt_text: "{a.password} and {a}" }, 422],
  ["POST /execute", { session_id: "{session}", initial_inputs: { ...secrets, more: 1 } }],
  ["POST /sessions/{session}/publish", { workflow: "published" }, 201],
  ["DELETE /sessions/{session}/edges?from=c&to=d"],
  ["DELETE /sessions/{session}/nodes/d"],
  ["GET /workflows"],
  ["POST /workflows", guarded, 200],
  ["GET /workflows/guarded"],
  ["PUT /workflows/guarded", guarded],
  ["POST /workflows/validate", guarded],
  ["GET /workflows/guarded/asl"],
  ["GET /workflows/guarded/findings"],
  ["GET /workflows/guarded/versions"],
  ["GET /workflows/guarded/quotas"],
  ["PUT /workflows/guarded/quotas", { max_concurrent: 3 }],
  ["GET /workflows/guarded/generations"],
  ["POST /workflows/guarded/generations/review", {}, 422],
  ["POST /workflows/guarded/activate", { version: 1 }],
  ["POST /workflows/failing/pause"],
  ["POST /workflows/failing/resume"],
  ["POST /workflows/guarded/schedules/none/pause", undefined, 404],
  ["POST /workflows/guarded/schedules/none/resume", undefined, 404],
  ["POST /workflows/plain/execute?wait=20", { context: secrets }],
  ["POST /workflows/plain/execute", { context: { ...secrets, pin: password } }, 422],
  ["POST /workflows/plain/execute", { context: { ...secrets, login: password } }, 422],
  ["POST /workflows/plain/execute", { context: { ...secrets, password: pin } }, 422],
  ["POST /hooks/guarded-hook", secrets, 202],
  ["POST /executions/{failed}/restart", { context_patch: { password: "third-secret" }, dry_run: true }],
  ["POST /executions/{failed}/restart?wait=20", { context_patch: { login: { token: "tok-5512-zebra" } } }],
  ["POST /executions/{run}/cancel"],
  ["POST /events", { source: "a", type: "b", detail: { n: 1 } }],
  ["GET /deliveries"],
  ["GET /schedules"],
  ["GET /audit?limit=200"],
  ["GET /clients"],
  ["POST /clients", { slug: "other", name: "Other" }, 201],
  ["GET /clients/acme"],
  ["PATCH /clients/acme", { name: "Acme Ltd" }],
  ["GET /keys"],
  ["POST /keys", { role: "viewer" }, 201],
  ["POST /uploads", { bytes: 3 }, 201],
  ["GET /health"],
  ["GET /.well-known/nova-keys.json"],
  ["POST /signing-keys/rotate", undefined, 201],
  ["POST /roots", undefined, 201],
  ["GET /roots"],
  ["GET /formats"],
  ["GET /openapi.json"],
];

/** Routes whose responses contain no context, and the route that exports all stored data for an administrator. */
const without = [
  /^GET \/llms(-full)?\.txt$/,
  /^(GET|PUT|DELETE) .*\/credentials/,
  /^POST \/credentials\/rotate$/,
  /^GET \/analytics\//,
  /^GET \/clients\/\{slug\}\/export$/,
  /^DELETE \/(workflows|keys|clients|sessions)\/\{\w+\}$/,
  /^POST \/executions\/\{id\}\/erase$/,
];

describe("an answer of the API", { timeout: 120_000 }, () => {
  it.each(requests)("of %s shows no secret input in any spelling", async (request, body, status) => {
    const sent =
      body && JSON.parse(JSON.stringify(body).replace(/\{(session|failed)\}/, (_, name: string) => known[name] ?? ""));
    const answer = await call(request, sent);
    const expected = status === undefined ? [200, 202] : [status];
    expect([answer.text, expected]).toEqual([answer.text, expect.arrayContaining([answer.status])]);
  });

  it("is tested for secret inputs on every route", () => {
    const isTested = ({ method, path }: Route) =>
      requests.some(([request]) => patternOf(`${method} ${path}`).test(request.split("?")[0] as string));
    const untested = routes.filter((route) => !isTested(route)).map(({ method, path }) => `${method} ${path}`);
    expect(untested.filter((route) => !without.some((one) => one.test(route)))).toEqual([]);
  });

  it("contains *** in place of a secret input if it shows a session", async () => {
    const { body } = await call("GET /sessions/{session}");
    expect(body.context).toMatchObject({ password: "***", pin: "***", login: "***" });
  });

  it("contains no secret of a run after the session of the run was deleted", async () => {
    const made = await call("POST /sessions", { workflow: "plain", context: secrets });
    const { body } = await call(`POST /sessions/${made.body.session_id}/run?wait=20`);
    await untilEnded(api.ports, body.execution_id, 20_000);
    await call(`DELETE /sessions/${made.body.session_id}`);
    const { body: run } = await call(`GET /executions/${body.execution_id}`);
    expect(run.context).toMatchObject({ password: "***", a: 1 });
    await call(`GET /executions/${body.execution_id}/chain?full`);
  });
});
