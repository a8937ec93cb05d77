import { createHash } from "node:crypto";
import { type Role, roles } from "@nova/service";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { routes } from "../../../functions/api/routes/index.ts";
import { type Called, useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();

/** The reach of a key: all clients, the client that owns the tested things, or another client. */
const scopes = ["all", "own", "foreign"] as const;
type Scope = (typeof scopes)[number];

/** Ids of things of client `acme`. Calls that consume them get new ones. */
interface Things {
  execution: string;
  task: string;
  key: string;
  /** Slug of another client. */
  client: string;
  /** A draft that cannot run, because one of its nodes has no code. */
  session: string;
}

interface Row {
  /** Returns the path of the request with ids of `acme`. */
  path(things: Things): string;
  body?: object;
  /** The minimum role; null if the route needs no key. */
  role: Role | null;
  /** Status for a sufficient role, by scope of the key. */
  status: Record<Scope, number>;
}

const everybody = (status: number) => ({ all: status, own: status, foreign: status });
const sharedChange = (status: number) => ({ all: status, own: 403, foreign: 403 });
const ofClient = (status: number) => ({ all: status, own: status, foreign: 404 });
const plain = (path: string) => () => path;

const credential = { kind: "custom", values: { token: "s3cret-of-acme" } };

/** Hash of the single byte that each run stores as a blob. */
const byte = createHash("sha256").update("x").digest("hex");

/** Builds rows for routes of one session, which all need an editor. */
function ofSession(routes: Record<string, Pick<Row, "status"> & Partial<Pick<Row, "body">> & { query?: string }>) {
  const rows = Object.entries(routes).map(([route, { query = "", ...row }]): [string, Row] => {
    const [method, path = ""] = route.split(" ");
    const address = ({ session }: Things) => `/sessions/${session}${path.replace("{node}", "a")}${query}`;
    return [`${method} /sessions/{id}${path}`, { ...row, path: address, role: "editor" }];
  });
  return Object.fromEntries(rows);
}

/** Builds rows for routes with a session id in the body, here an unknown one. */
function asBefore(routes: Record<string, object>) {
  const rows = Object.entries(routes).map(([path, more]): [string, Row] => {
    const body = { session_id: `ses_${"0".repeat(26)}`, ...more };
    return [`POST ${path}`, { path: plain(path), body, role: "editor", status: everybody(404) }];
  });
  return Object.fromEntries(rows);
}

/** A row for every route, by `GET /path`. */
const table: Record<string, Row> = {
  "GET /health": { path: plain("/health"), role: null, status: everybody(200) },
  "GET /openapi.json": { path: plain("/openapi.json"), role: null, status: everybody(200) },
  "POST /workflows": { path: plain("/workflows"), body: asking, role: "editor", status: sharedChange(200) },
  "PUT /workflows/{id}": { path: plain("/workflows/asking"), body: asking, role: "editor", status: sharedChange(200) },
  "GET /workflows": { path: plain("/workflows"), role: "viewer", status: everybody(200) },
  "GET /workflows/{id}": { path: plain("/workflows/asking"), role: "viewer", status: everybody(200) },
  "GET /workflows/{id}/versions": { path: plain("/workflows/asking/versions"), role: "viewer", status: everybody(200) },
  "GET /workflows/{id}/asl": { path: plain("/workflows/asking/asl"), role: "viewer", status: everybody(200) },
  "GET /workflows/{id}/findings": {
    path: plain("/workflows/asking/findings"),
    role: "viewer",
    status: everybody(200),
  },
  "POST /workflows/validate": {
    path: plain("/workflows/validate"),
    body: asking,
    role: "viewer",
    status: everybody(200),
  },
  "POST /workflows/{id}/activate": {
    path: plain("/workflows/asking/activate"),
    body: { version: 1 },
    role: "editor",
    status: sharedChange(200),
  },
  "POST /workflows/{id}/pause": { path: plain("/workflows/asking/pause"), role: "editor", status: sharedChange(200) },
  "POST /workflows/{id}/resume": { path: plain("/workflows/asking/resume"), role: "editor", status: sharedChange(200) },
  "GET /schedules": { path: plain("/schedules"), role: "viewer", status: everybody(200) },
  "POST /workflows/{id}/schedules/{trigger}/pause": {
    path: plain("/workflows/asking/schedules/never/pause"),
    role: "editor",
    status: everybody(404),
  },
  "POST /workflows/{id}/schedules/{trigger}/resume": {
    path: plain("/workflows/asking/schedules/never/resume"),
    role: "editor",
    status: everybody(404),
  },
  "DELETE /workflows/{id}": { path: plain("/workflows/asking"), role: "editor", status: sharedChange(409) },
  "POST /workflows/{id}/execute": {
    path: plain("/workflows/asking/execute"),
    body: { client_slug: "acme" },
    role: "runner",
    status: ofClient(202),
  },
  "GET /executions": { path: plain("/executions?client=acme"), role: "viewer", status: everybody(200) },
  "GET /executions/{id}": {
    path: ({ execution }) => `/executions/${execution}`,
    role: "viewer",
    status: ofClient(200),
  },
  "GET /executions/{a}/diff/{b}": {
    path: ({ execution }) => `/executions/${execution}/diff/${execution}`,
    role: "viewer",
    status: ofClient(200),
  },
  "POST /executions/{id}/cancel": {
    path: ({ execution }) => `/executions/${execution}/cancel`,
    role: "runner",
    status: ofClient(200),
  },
  "POST /executions/{id}/erase": {
    path: ({ execution }) => `/executions/${execution}/erase`,
    role: "admin",
    status: ofClient(409),
  },
  "POST /executions/{id}/restart": {
    path: ({ execution }) => `/executions/${execution}/restart`,
    role: "runner",
    status: ofClient(422),
  },
  "GET /executions/{id}/verify": {
    path: ({ execution }) => `/executions/${execution}/verify`,
    role: "viewer",
    status: ofClient(200),
  },
  "GET /verifications": { path: plain("/verifications?client=acme"), role: "viewer", status: everybody(200) },
  "GET /executions/{id}/chain": {
    path: ({ execution }) => `/executions/${execution}/chain`,
    role: "viewer",
    status: ofClient(200),
  },
  "GET /executions/{id}/chain/{seq}": {
    path: ({ execution }) => `/executions/${execution}/chain/0?full`,
    role: "viewer",
    status: ofClient(200),
  },
  "GET /executions/{id}/chain/{seq}/logs": {
    path: ({ execution }) => `/executions/${execution}/chain/1/logs`,
    role: "viewer",
    status: ofClient(200),
  },
  "POST /executions/{id}/answer": {
    path: ({ execution }) => `/executions/${execution}/answer`,
    body: { choice: "approved" },
    role: "runner",
    status: ofClient(200),
  },
  "GET /executions/{id}/blobs/{sha256}": {
    path: ({ execution }) => `/executions/${execution}/blobs/${byte}`,
    role: "viewer",
    status: ofClient(200),
  },
  "GET /workflows/{id}/generations": {
    path: plain("/workflows/asking/generations"),
    role: "viewer",
    status: everybody(200),
  },
  "POST /workflows/{id}/generations/review": {
    path: plain("/workflows/asking/generations/review"),
    body: { node: "ask", key: byte, code_hash: byte, verdict: "approved" },
    role: "editor",
    status: sharedChange(404),
  },
  "POST /events": {
    path: plain("/events"),
    body: { source: "shop", type: "OrderPaid" },
    role: "runner",
    status: sharedChange(200),
  },
  "POST /hooks/{id}": { path: plain("/hooks/nobody"), role: null, status: everybody(404) },
  "POST /sessions": { path: plain("/sessions"), body: { client_slug: "acme" }, role: "editor", status: ofClient(201) },
  "GET /sessions": { path: plain("/sessions"), role: "editor", status: everybody(200) },
  ...ofSession({
    "GET ": { status: ofClient(200) },
    "DELETE ": { status: ofClient(204) },
    "POST /nodes": { body: { id: "a" }, status: ofClient(409) },
    "PATCH /nodes/{node}": { body: { description: "x" }, status: ofClient(200) },
    "DELETE /nodes/{node}": { query: "?version=1000", status: ofClient(409) },
    "POST /edges": { body: { from: "a", to: "b" }, status: ofClient(409) },
    "DELETE /edges": { query: "?from=b&to=a", status: everybody(404) },
    "GET /outputs": { status: ofClient(200) },
    "PUT /nodes/{node}/output": { body: { output: { $x: 1 } }, status: ofClient(422) },
    "POST /run": { status: ofClient(422) },
    "POST /nodes/{node}/run": { body: { context_data: { "id:zzz": 1 } }, status: everybody(404) },
    "POST /publish": { body: { workflow: `draft-${"0".repeat(26)}` }, status: sharedChange(422) },
  }),
  ...asBefore({
    "/generate_text_node": { prompt_text: "x" },
    "/add_node": { node_id: "x" },
    "/add_edge": { from_node: "a", to_node: "b" },
    "/get_node_outputs": {},
    "/validate_template": { prompt_text: "x" },
    "/execute": {},
  }),
  "GET /tasks": { path: plain("/tasks"), role: "viewer", status: everybody(200) },
  "GET /tasks/{id}": { path: ({ task }) => `/tasks/${task}`, role: "viewer", status: ofClient(200) },
  "POST /tasks/{id}": {
    path: ({ task }) => `/tasks/${task}`,
    body: { choice: "approved" },
    role: "runner",
    status: ofClient(200),
  },
  "POST /keys": {
    path: plain("/keys"),
    body: { role: "viewer", client_slug: "acme" },
    role: "admin",
    status: ofClient(201),
  },
  "GET /keys": { path: plain("/keys"), role: "admin", status: everybody(200) },
  "DELETE /keys/{id}": { path: ({ key }) => `/keys/${key}`, role: "admin", status: ofClient(204) },
  "POST /clients": {
    path: plain("/clients"),
    body: { slug: "acme", name: "Acme" },
    role: "admin",
    status: sharedChange(409),
  },
  "GET /clients": { path: plain("/clients"), role: "viewer", status: everybody(200) },
  "GET /clients/{slug}": { path: plain("/clients/acme"), role: "viewer", status: ofClient(200) },
  "GET /clients/{slug}/export": { path: plain("/clients/acme/export"), role: "admin", status: ofClient(200) },
  "DELETE /clients/{slug}": {
    path: ({ client }) => `/clients/${client}`,
    role: "admin",
    status: sharedChange(202),
  },
  "PATCH /clients/{slug}": {
    path: plain("/clients/acme"),
    body: { name: "Acme" },
    role: "editor",
    status: ofClient(200),
  },
  ...Object.fromEntries(
    [
      { of: "/clients/{slug}", path: "/clients/acme", reached: ofClient },
      { of: "/workflows/{id}", path: "/workflows/asking", reached: sharedChange },
    ].flatMap(({ of, path, reached }): [string, Row][] => {
      const one = ({ key }: Things) => `${path}/credentials/${key.toLowerCase()}`;
      return [
        [`GET ${of}/credentials`, { path: plain(`${path}/credentials`), role: "viewer", status: reached(200) }],
        [`GET ${of}/credentials/{name}`, { path: one, role: "viewer", status: reached(200) }],
        [`PUT ${of}/credentials/{name}`, { path: one, body: credential, role: "admin", status: reached(200) }],
        [`DELETE ${of}/credentials/{name}`, { path: one, role: "admin", status: reached(204) }],
      ];
    }),
  ),
  "POST /credentials/rotate": { path: plain("/credentials/rotate"), role: "admin", status: sharedChange(200) },
  "POST /uploads": {
    path: plain("/uploads"),
    body: { bytes: 5, client_slug: "acme" },
    role: "runner",
    status: ofClient(201),
  },
  ...Object.fromEntries(
    ["workflows", "nodes", "errors", "ai-cost"].map((name) => [
      `GET /analytics/${name}`,
      { path: plain(`/analytics/${name}?client=acme`), role: "viewer", status: everybody(200) } satisfies Row,
    ]),
  ),
  "GET /workflows/{id}/quotas": { path: plain("/workflows/asking/quotas"), role: "viewer", status: everybody(200) },
  "PUT /workflows/{id}/quotas": {
    path: plain("/workflows/asking/quotas"),
    body: {},
    role: "editor",
    status: sharedChange(200),
  },
  "GET /deliveries": { path: plain("/deliveries?client=acme"), role: "viewer", status: everybody(200) },
  "GET /formats": { path: plain("/formats"), role: "admin", status: sharedChange(200) },
  "GET /audit": { path: plain("/audit"), role: "admin", status: everybody(200) },
};

const keys = new Map<string, string>();
const keyOf = (role: Role, scope: Scope) => keys.get(`${role} ${scope}`) as string;
/** Routes that consume their things. */
const consuming = [
  "POST /executions/{id}/answer",
  "POST /executions/{id}/cancel",
  "POST /tasks/{id}",
  "DELETE /keys/{id}",
  "DELETE /sessions/{id}",
  "DELETE /clients/{slug}/credentials/{name}",
  "DELETE /workflows/{id}/credentials/{name}",
  "DELETE /clients/{slug}",
];
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
  lasting = await things();
});

async function things(): Promise<Things> {
  const { body: run } = await api.call("POST /workflows/asking/execute", { body: { client_slug: "acme" } });
  const { body: key } = await api.call("POST /keys", { body: { role: "viewer", client_slug: "acme" } });
  const execution = run.execution_id as string;
  for (const owner of ["/clients/acme", "/workflows/asking"]) {
    await api.call(`PUT ${owner}/credentials/${key.id.toLowerCase()}`, { body: credential });
  }
  const [task] = await vi.waitFor(async () => {
    const found = await api.ports.tasks.ofExecution(execution);
    expect(found).toHaveLength(1);
    return found;
  });
  const client = `client-${execution.slice(-6).toLowerCase()}`;
  await api.call("POST /clients", { body: { slug: client, name: client } });
  const home = { client: "acme", root: execution };
  await api.ports.blobs.put(home, { sha256: byte, bytes: 1, type: "bytes" }, Buffer.from("x"));
  const nodes = [{ id: "a", code: "pass" }, { id: "b" }];
  const draft = { client_slug: "acme", nodes, edges: [{ from: "a", to: "b" }] };
  const { body: session } = await api.call("POST /sessions", { body: draft });
  return { execution, task: task?.id as string, key: key.id, client, session: session.session_id };
}

async function ask(route: string, of: Things, key: string | null): Promise<Called> {
  const row = table[route] as Row;
  const [method] = route.split(" ");
  return api.call(`${method} ${row.path(of)}`, { key, ...(row.body && { body: row.body }) });
}

function expected({ role: least, status }: Row, role: Role, scope: Scope): number {
  return least !== null && roles.indexOf(role) < roles.indexOf(least) ? 403 : status[scope];
}

it("the table names every route and the role that it requires", () => {
  const said = Object.fromEntries(routes.map(({ method, path, role }) => [`${method} ${path}`, role]));
  expect(said).toEqual(Object.fromEntries(Object.entries(table).map(([route, { role }]) => [route, role])));
});

describe.each(Object.keys(table))("%s", (route) => {
  const row = table[route] as Row;

  it.each(scopes.flatMap((scope) => roles.map((role) => ({ scope, role, status: expected(row, role, scope) }))))(
    "answers a $role of $scope with $status",
    async ({ scope, role, status }) => {
      const of = consuming.includes(route) && status < 300 ? await things() : lasting;
      expect((await ask(route, of, keyOf(role, scope))).status).toBe(status);
    },
  );

  it.each([
    ["no key", null],
    ["an invalid key", "secret"],
    ["an unknown key", `nova_${"0".repeat(26)}_${"A".repeat(43)}`],
  ])("gives the documented answer to %s", async (_what, key) => {
    const { status, headers } = await ask(route, lasting, key);
    expect(status).toBe(row.role === null ? row.status.all : 401);
    if (status === 401) expect(headers.get("www-authenticate")).toMatch(/^Bearer/);
  });
});

describe("a thing of another client", () => {
  const named = Object.entries(table).filter(
    ([, { path }]) => path(unknown) !== path({ ...unknown, execution: "", task: "", key: "", session: "" }),
  );

  it.each(named.map(([route]) => route))("gets the same answer as a missing one: %s", async (route) => {
    const key = keyOf("admin", "foreign");
    const [there, not] = [await ask(route, lasting, key), await ask(route, unknown, key)];
    const anonymous = (text: string, of: Things) =>
      Object.values(of).reduce((left: string, id) => left.replaceAll(id, "<id>"), text);
    expect(anonymous(there.text, lasting)).toBe(anonymous(not.text, unknown));
    expect([...there.headers.keys()]).toEqual([...not.headers.keys()]);
  });

  it("needs as many reads for its refusal as a missing one", async () => {
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
  ])("is not in the list %s", async (path) => {
    const { text } = await api.call(`GET ${path}`, { key: keyOf("admin", "foreign") });
    for (const secret of [...Object.values(lasting), "acme"]) expect(text).not.toContain(secret);
  });

  it.each(["/executions", "/tasks", "/keys", "/audit", "/clients"])(
    "is listed for keys of its own client: %s",
    async (path) => {
      const { text } = await api.call(`GET ${path}?limit=200`, { key: keyOf("admin", "own") });
      expect(text).toMatch(/acme|task_/);
      expect(text).not.toContain("globex");
    },
  );
});

describe("a key", () => {
  it("can be sent as x-api-key", async () => {
    const headers = { "x-api-key": keyOf("viewer", "all") };
    expect((await api.call("GET /workflows", { key: null, headers })).status).toBe(200);
  });

  it("creates keys and runs for its own client by default", async () => {
    const { body: made } = await api.call("POST /keys", { key: keyOf("admin", "own"), body: { role: "runner" } });
    expect(made).toMatchObject({ client_slug: "acme", role: "runner" });
    const { body: run } = await api.call("POST /workflows/asking/execute", { key: made.key, body: {} });
    expect((await api.ports.executions.get(run.execution_id))?.client).toBe("acme");
  });

  it("is refused after its deletion, and cannot delete itself", async () => {
    const { body: made } = await api.call("POST /keys", { body: { role: "admin" } });
    const itself = await api.call(`DELETE /keys/${made.id}`, { key: made.key });
    expect([itself.status, itself.body.detail]).toEqual([409, expect.stringMatching(/cannot delete itself/)]);
    await api.call(`DELETE /keys/${made.id}`);
    expect((await api.call("GET /keys", { key: made.key })).status).toBe(401);
  });

  it("is stored only as a digest", async () => {
    const { body: made } = await api.call("POST /keys", { body: { role: "viewer", name: "a page" } });
    const secret = made.key.slice(-20); // a secret may have a "_" anywhere
    const stored = await api.ports.keys.get(made.id);
    expect(JSON.stringify(stored)).not.toContain(secret);
    expect(stored).toMatchObject({ name: "a page", digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect((await api.call("GET /keys?limit=200")).text).not.toContain(secret);
  });
});
