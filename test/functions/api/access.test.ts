import { createHash } from "node:crypto";
import { type Role, roles } from "@nova/service";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { routes } from "../../../functions/api/routes/index.ts";
import { type Called, expectRefusal, useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();

/** The clients whose data a key may use: all clients, the client that owns the tested records, or another client. */
const scopes = ["all", "own", "foreign"] as const;
type Scope = (typeof scopes)[number];

/** Ids of records of the client `acme`. A request that deletes or ends a record gets a new record. */
interface Things {
  execution: string;
  task: string;
  key: string;
  /** The slug of a client that a request can delete. */
  client: string;
  /** A draft that cannot run, because one of its nodes has no code. */
  session: string;
}

/**
 * The minimum role of a route (null if the route needs no key), the status for a sufficient role by the scope of the
 * key, and the body and the query of the request.
 */
type Row = [least: Role | null, status: Record<Scope, number>, request?: { body?: object; query?: string }];

const everybody = (status: number) => ({ all: status, own: status, foreign: status });
const sharedChange = (status: number) => ({ all: status, own: 403, foreign: 403 });
const ofClient = (status: number) => ({ all: status, own: status, foreign: 404 });

const credential = { body: { kind: "custom", values: { token: "s3cret-of-acme" } } };

/** Hash of the single byte that each run stores as a blob. */
const byte = createHash("sha256").update("x").digest("hex");
const review = { node: "ask", key: byte, code_hash: byte, verdict: "approved" };

/** Returns rows for the routes of ScriptChain, with the id of an unknown session in the body. */
function scriptChainRows(bodies: Record<string, object>): Record<string, Row> {
  const session_id = `ses_${"0".repeat(26)}`;
  return Object.fromEntries(
    Object.entries(bodies).map(([path, more]): [string, Row] => [
      `POST ${path}`,
      ["editor", everybody(404), { body: { session_id, ...more } }],
    ]),
  );
}

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

/** A row for every route, by `GET /path`. */
const table: Record<string, Row> = {
  "GET /health": [null, everybody(200)],
  "GET /openapi.json": [null, everybody(200)],
  "POST /workflows": ["editor", sharedChange(200), { body: asking }],
  "PUT /workflows/{id}": ["editor", sharedChange(200), { body: asking }],
  "GET /workflows": ["viewer", everybody(200)],
  "GET /workflows/{id}": ["viewer", everybody(200)],
  "GET /workflows/{id}/versions": ["viewer", everybody(200)],
  "GET /workflows/{id}/asl": ["viewer", everybody(200)],
  "GET /workflows/{id}/findings": ["viewer", everybody(200)],
  "POST /workflows/validate": ["viewer", everybody(200), { body: asking }],
  "POST /workflows/{id}/activate": ["editor", sharedChange(200), { body: { version: 1 } }],
  "POST /workflows/{id}/pause": ["editor", sharedChange(200)],
  "POST /workflows/{id}/resume": ["editor", sharedChange(200)],
  "GET /schedules": ["viewer", everybody(200)],
  "POST /workflows/{id}/schedules/{trigger}/pause": ["editor", everybody(404)],
  "POST /workflows/{id}/schedules/{trigger}/resume": ["editor", everybody(404)],
  "DELETE /workflows/{id}": ["editor", sharedChange(409)],
  "POST /workflows/{id}/execute": ["runner", ofClient(202), { body: { client_slug: "acme" } }],
  "GET /workflows/{id}/generations": ["viewer", everybody(200)],
  "POST /workflows/{id}/generations/review": ["editor", sharedChange(404), { body: review }],
  "GET /workflows/{id}/quotas": ["viewer", everybody(200)],
  "PUT /workflows/{id}/quotas": ["editor", sharedChange(200), { body: {} }],
  "GET /workflows/{id}/credentials": ["viewer", sharedChange(200)],
  "GET /workflows/{id}/credentials/{name}": ["viewer", sharedChange(200)],
  "PUT /workflows/{id}/credentials/{name}": ["admin", sharedChange(200), credential],
  "DELETE /workflows/{id}/credentials/{name}": ["admin", sharedChange(204)],
  "GET /executions": ["viewer", everybody(200), { query: "?client=acme" }],
  "GET /executions/{id}": ["viewer", ofClient(200)],
  "GET /executions/{a}/diff/{b}": ["viewer", ofClient(200)],
  "POST /executions/{id}/cancel": ["runner", ofClient(200)],
  "POST /executions/{id}/erase": ["admin", ofClient(409)],
  "POST /executions/{id}/restart": ["runner", ofClient(422)],
  "GET /executions/{id}/verify": ["viewer", ofClient(200)],
  "GET /executions/{id}/proof": ["viewer", ofClient(409)],
  "GET /verifications": ["viewer", everybody(200), { query: "?client=acme" }],
  "GET /executions/{id}/chain": ["viewer", ofClient(200)],
  "GET /executions/{id}/chain/{seq}": ["viewer", ofClient(200), { query: "?full" }],
  "GET /executions/{id}/chain/{seq}/logs": ["viewer", ofClient(200)],
  "POST /executions/{id}/answer": ["runner", ofClient(200), { body: { choice: "approved" } }],
  "GET /executions/{id}/blobs/{sha256}": ["viewer", ofClient(200)],
  "POST /events": ["runner", sharedChange(200), { body: { source: "shop", type: "OrderPaid" } }],
  "POST /hooks/{id}": [null, everybody(404)],
  "POST /sessions": ["editor", ofClient(201), { body: { client_slug: "acme" } }],
  "GET /sessions": ["editor", everybody(200)],
  "GET /sessions/{id}": ["editor", ofClient(200)],
  "DELETE /sessions/{id}": ["editor", ofClient(204)],
  "PATCH /sessions/{id}": ["editor", ofClient(200), { body: { name: "Other" } }],
  "GET /sessions/{id}/nodes/{node}/check": ["editor", ofClient(200)],
  "POST /sessions/{id}/nodes": ["editor", ofClient(409), { body: { id: "a" } }],
  "PATCH /sessions/{id}/nodes/{node}": ["editor", ofClient(200), { body: { description: "x" } }],
  "DELETE /sessions/{id}/nodes/{node}": ["editor", ofClient(409), { query: "?version=1000" }],
  "POST /sessions/{id}/edges": ["editor", ofClient(409), { body: { from: "a", to: "b" } }],
  "DELETE /sessions/{id}/edges": ["editor", everybody(404), { query: "?from=b&to=a" }],
  "GET /sessions/{id}/outputs": ["editor", ofClient(200)],
  "PUT /sessions/{id}/nodes/{node}/output": ["editor", ofClient(422), { body: { output: { $x: 1 } } }],
  "POST /sessions/{id}/run": ["editor", ofClient(422)],
  "POST /sessions/{id}/nodes/{node}/run": ["editor", everybody(404), { body: { context_data: { "id:zzz": 1 } } }],
  "POST /sessions/{id}/edits": ["editor", ofClient(200), { body: { operations: [] } }],
  "GET /llms.txt": [null, everybody(200)],
  "GET /llms-full.txt": [null, everybody(200)],
  "POST /mcp": ["viewer", everybody(200), { body: ping }],
  "POST /sessions/{id}/publish": ["editor", sharedChange(422), { body: { workflow: `draft-${"0".repeat(26)}` } }],
  ...scriptChainRows({
    "/generate_text_node": { prompt_text: "x" },
    "/add_node": { node_id: "x" },
    "/add_edge": { from_node: "a", to_node: "b" },
    "/get_node_outputs": {},
    "/validate_template": { prompt_text: "x" },
    "/execute": {},
  }),
  "GET /tasks": ["viewer", everybody(200)],
  "GET /tasks/{id}": ["viewer", ofClient(200)],
  "POST /tasks/{id}": ["runner", ofClient(200), { body: { choice: "approved" } }],
  "POST /tasks/{id}/withdraw": ["runner", ofClient(409)],
  "POST /tasks/{id}/delegate": ["runner", ofClient(409), { body: { to: "deputy@acme.com" } }],
  "POST /keys": ["admin", ofClient(201), { body: { role: "viewer", client_slug: "acme" } }],
  "GET /keys": ["admin", everybody(200)],
  "DELETE /keys/{id}": ["admin", ofClient(204)],
  "POST /clients": ["admin", sharedChange(409), { body: { slug: "acme", name: "Acme" } }],
  "GET /clients": ["viewer", everybody(200)],
  "GET /clients/{slug}": ["viewer", ofClient(200)],
  "GET /clients/{slug}/export": ["admin", ofClient(200)],
  "DELETE /clients/{slug}": ["admin", sharedChange(202)],
  "PATCH /clients/{slug}": ["editor", ofClient(200), { body: { name: "Acme" } }],
  "GET /clients/{slug}/credentials": ["viewer", ofClient(200)],
  "GET /clients/{slug}/credentials/{name}": ["viewer", ofClient(200)],
  "PUT /clients/{slug}/credentials/{name}": ["admin", ofClient(200), credential],
  "DELETE /clients/{slug}/credentials/{name}": ["admin", ofClient(204)],
  "GET /.well-known/nova-keys.json": [null, everybody(200)],
  "POST /signing-keys/rotate": ["admin", sharedChange(201)],
  "POST /credentials/rotate": ["admin", sharedChange(200)],
  "POST /uploads": ["runner", ofClient(201), { body: { bytes: 5, client_slug: "acme" } }],
  "GET /analytics/workflows": ["viewer", everybody(200), { query: "?client=acme" }],
  "GET /analytics/nodes": ["viewer", everybody(200), { query: "?client=acme" }],
  "GET /analytics/errors": ["viewer", everybody(200), { query: "?client=acme" }],
  "GET /analytics/ai-cost": ["viewer", everybody(200), { query: "?client=acme" }],
  "GET /deliveries": ["viewer", everybody(200), { query: "?client=acme" }],
  "GET /formats": ["admin", sharedChange(200)],
  "GET /roots": ["viewer", sharedChange(200)],
  "POST /roots": ["admin", sharedChange(201)],
  "GET /audit": ["admin", everybody(200)],
};

/** Returns the path and the query of a request to the route with the ids of these records. */
function addressOf(route: string, { execution, task, key, client, session }: Things): string {
  const [, path = ""] = route.split(" ");
  const ids: Record<string, string> = { workflows: "asking", executions: execution, tasks: task, keys: key };
  const values: Record<string, string> = {
    id: { ...ids, sessions: session, hooks: "nobody" }[path.split("/")[1] as string] ?? "",
    a: execution,
    b: execution,
    seq: path.endsWith("/logs") ? "1" : "0",
    sha256: byte,
    trigger: "never",
    node: "a",
    slug: route === "DELETE /clients/{slug}" ? client : "acme",
    name: key.toLowerCase(),
  };
  return path.replaceAll(/\{(\w+)\}/g, (_, name) => values[name] as string) + (table[route]?.[2]?.query ?? "");
}

const keys = new Map<string, string>();
const keyOf = (role: Role, scope: Scope) => keys.get(`${role} ${scope}`) as string;
const clients: Record<Scope, string | undefined> = { all: undefined, own: "acme", foreign: "globex" };
const unknown: Things = {
  execution: `exec_${"0".repeat(26)}`,
  task: `task_${"0".repeat(26)}`,
  key: `key_${"0".repeat(26)}`,
  client: "nobody",
  session: `ses_${"0".repeat(26)}`,
};
let lasting: Things;

beforeAll(async () => {
  for (const slug of ["acme", "globex"]) await api.call("POST /clients", { body: { slug, name: slug } });
  await api.call("POST /workflows", { body: asking });
  for (const scope of scopes)
    for (const role of roles) keys.set(`${role} ${scope}`, await api.key(role, clients[scope]));
  lasting = { ...(await makeRun()), ...(await makeKey()), ...(await makeClient()), ...(await makeSession()) };
});

async function makeRun(): Promise<Pick<Things, "execution" | "task">> {
  const { body: run } = await api.call("POST /workflows/asking/execute", { body: { client_slug: "acme" } });
  const execution = run.execution_id as string;
  const { id: task } = await api.taskOf(execution);
  const home = { client: "acme", root: execution };
  await api.ports.blobs.put(home, { sha256: byte, bytes: 1, type: "bytes" }, Buffer.from("x"));
  return { execution, task };
}

/** Closes a run, so that the next Merkle tree contains it. */
async function closeRun(): Promise<Partial<Things>> {
  const { execution } = await makeRun();
  await api.call(`POST /executions/${execution}/cancel`);
  return {};
}

/**
 * Makes a key, a credential of a client and a credential of a workflow. The names of both credentials are the id of the
 * key.
 */
async function makeKey(): Promise<Pick<Things, "key">> {
  const { body: key } = await api.call("POST /keys", { body: { role: "viewer", client_slug: "acme" } });
  for (const owner of ["/clients/acme", "/workflows/asking"]) {
    await api.call(`PUT ${owner}/credentials/${key.id.toLowerCase()}`, credential);
  }
  return { key: key.id };
}

let madeClients = 0;
async function makeClient(): Promise<Pick<Things, "client">> {
  const client = `client-${++madeClients}`;
  await api.call("POST /clients", { body: { slug: client, name: client } });
  return { client };
}

async function makeSession(): Promise<Pick<Things, "session">> {
  const nodes = [{ id: "a", code: "pass" }, { id: "b" }];
  const draft = { client_slug: "acme", nodes, edges: [{ from: "a", to: "b" }] };
  return { session: (await api.call("POST /sessions", { body: draft })).body.session_id };
}

/** Functions that make new records for the routes that delete or end these records. */
const renewals: Record<string, () => Promise<Partial<Things>>> = {
  "POST /executions/{id}/answer": makeRun,
  "POST /executions/{id}/cancel": makeRun,
  "POST /tasks/{id}": makeRun,
  "POST /roots": closeRun,
  "DELETE /keys/{id}": makeKey,
  "DELETE /sessions/{id}": makeSession,
  "DELETE /clients/{slug}/credentials/{name}": makeKey,
  "DELETE /workflows/{id}/credentials/{name}": makeKey,
  "DELETE /clients/{slug}": makeClient,
};

async function ask(route: string, of: Things, key: string | null): Promise<Called> {
  const { body } = table[route]?.[2] ?? {};
  const [method] = route.split(" ");
  return api.call(`${method} ${addressOf(route, of)}`, { key, ...(body && { body }) });
}

function expectedStatus([least, status]: Row, role: Role, scope: Scope): number {
  return least !== null && roles.indexOf(role) < roles.indexOf(least) ? 403 : status[scope];
}

it("the table of the access tests names every route and the role that the route requires", () => {
  const required = Object.fromEntries(routes.map(({ method, path, role }) => [`${method} ${path}`, role]));
  expect(required).toEqual(Object.fromEntries(Object.entries(table).map(([route, [role]]) => [route, role])));
});

describe.each(Object.entries(table))("%s", (route, row) => {
  it.each(scopes)(
    "answers requests with API keys of each role and of the scope %s with the expected status",
    async (scope) => {
      const statuses: Partial<Record<Role, number>> = {};
      for (const role of roles) {
        const renew = expectedStatus(row, role, scope) < 300 ? renewals[route] : undefined;
        const of = { ...lasting, ...(await renew?.()) };
        statuses[role] = (await ask(route, of, keyOf(role, scope))).status;
      }
      expect(statuses).toEqual(Object.fromEntries(roles.map((role) => [role, expectedStatus(row, role, scope)])));
    },
  );

  it.each([
    ["no key", null],
    ["an invalid key", "secret"],
    ["an unknown key", `nova_${"0".repeat(26)}_${"A".repeat(43)}`],
  ])("answers 401 to a request with %s if the route needs an API key", async (_what, key) => {
    const { status, headers } = await ask(route, lasting, key);
    expect(status).toBe(row[0] === null ? row[1].all : 401);
    if (status === 401) expect(headers.get("www-authenticate")).toMatch(/^Bearer/);
  });
});

describe("a record of another client", () => {
  const named = Object.keys(table).filter(
    (route) =>
      addressOf(route, unknown) !== addressOf(route, { ...unknown, execution: "", task: "", key: "", session: "" }),
  );

  it.each(named)("causes the same response as a record that does not exist: %s", async (route) => {
    const key = keyOf("admin", "foreign");
    const [there, not] = [await ask(route, lasting, key), await ask(route, unknown, key)];
    const anonymous = (text: string, of: Things) =>
      Object.values(of).reduce((left: string, id) => left.replaceAll(id, "<id>"), text);
    expect(anonymous(there.text, lasting)).toBe(anonymous(not.text, unknown));
    expect([...there.headers.keys()]).toEqual([...not.headers.keys()]);
  });

  it("is refused after as many database reads as an unknown record, so that the response time does not reveal the record", async () => {
    const by = { id: "key_x", role: "admin", client: "globex", name: "" } as const;
    const { executionWithin } = await import("@nova/service");
    const counts = await Promise.all(
      [lasting.execution, unknown.execution].map(async (id) => {
        const get = vi.fn(api.ports.executions.get);
        await executionWithin({ executions: { ...api.ports.executions, get } }, by, id).catch(() => undefined);
        return get.mock.calls.length;
      }),
    );
    expect(counts).toEqual([1, 1]);
  });

  it.each([
    "/executions",
    "/executions?client=acme",
    "/audit?client=acme",
    "/tasks",
    "/keys",
    "/audit",
    "/clients",
    "/analytics/nodes",
  ])("is missing in the list %s", async (path) => {
    const { text } = await api.call(`GET ${path}`, { key: keyOf("admin", "foreign") });
    for (const secret of [...Object.values(lasting), "acme"]) expect(text).not.toContain(secret);
  });

  it.each(["/executions", "/tasks", "/keys", "/audit", "/clients"])(
    "is in lists for API keys of that client: %s",
    async (path) => {
      const { text } = await api.call(`GET ${path}?limit=200`, { key: keyOf("admin", "own") });
      expect(text).toMatch(/acme|task_/);
      expect(text).not.toContain("globex");
    },
  );
});

describe("an API key", () => {
  it("can be sent in the header x-api-key", async () => {
    const headers = { "x-api-key": keyOf("viewer", "all") };
    expect((await api.call("GET /workflows", { key: null, headers })).status).toBe(200);
  });

  it("creates API keys and runs for its own client by default", async () => {
    const { body: made } = await api.call("POST /keys", { key: keyOf("admin", "own"), body: { role: "runner" } });
    expect(made).toMatchObject({ client_slug: "acme", role: "runner" });
    const { body: run } = await api.call("POST /workflows/asking/execute", { key: made.key, body: {} });
    expect((await api.ports.executions.get(run.execution_id))?.client).toBe("acme");
  });

  it("is refused after its deletion, and cannot delete itself", async () => {
    const { body: made } = await api.call("POST /keys", { body: { role: "admin" } });
    await expectRefusal(api.call(`DELETE /keys/${made.id}`, { key: made.key }), 409, /cannot delete itself/);
    await api.call(`DELETE /keys/${made.id}`);
    expect((await api.call("GET /keys", { key: made.key })).status).toBe(401);
  });

  it("is stored only as a digest", async () => {
    const { body: made } = await api.call("POST /keys", { body: { role: "viewer", name: "a page" } });
    const secret = made.key.slice(-20); // A secret may contain the separator "_", so the text is not split at it.
    const stored = await api.ports.keys.get(made.id);
    expect(JSON.stringify(stored)).not.toContain(secret);
    expect(stored).toMatchObject({ name: "a page", digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect((await api.call("GET /keys?limit=200")).text).not.toContain(secret);
  });
});
