// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { createClient, type NovaClient } from "@nova/client";
import { warmPorts } from "@nova/functions";
import { type ApiHandler, createApi, createServicePorts } from "@nova/functions/api";
import { openApi } from "@nova/local";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { routes } from "../../functions/api/routes/index.ts";
import { asking } from "../functions/api/support/flows.ts";
import { inARow, openTestCloud, type TestCloud } from "../support/cloud.ts";

/** A request, such as `GET /executions/exec_1`, and the status of its answer. */
type Answered = [request: string, status: number];

interface Server {
  nova: NovaClient;
  answered: Answered[];
}

let cloud: TestCloud;
let servers: Record<"local" | "deployed", Server>;
let close: () => Promise<void>;

beforeAll(async () => {
  cloud = await openTestCloud();
  const api = await openApi(cloud, { port: 0 });
  const deployed = createServicePorts({ ...process.env, NOVA_QUEUES: "true" }, warmPorts());
  const gateway = throughGateway(createApi(() => deployed));
  servers = {
    local: clientOf(api.url, api.key.text, fetch),
    deployed: clientOf("https://nova.example.com", api.key.text, gateway),
  };
  close = async () => {
    await api.close();
    await cloud.close();
  };
});
afterAll(() => close());

function clientOf(url: string, apiKey: string, ask: (request: Request) => Promise<Response>): Server {
  const answered: Answered[] = [];
  const watched = async (request: Request) => {
    const answer = await ask(request);
    answered.push([`${request.method} ${new URL(request.url).pathname}`, answer.status]);
    return answer;
  };
  return { nova: createClient({ url, apiKey, fetch: watched }), answered };
}

/** A body of more than a megabyte, which the deployed function returns as base64. */
const large = { text: "ü".repeat(700_000) };

/** Calls every route with the typed client. Returns the answers under names such as `health` and `newestKey`. */
async function askAll(nova: NovaClient, own: string): Promise<Record<string, unknown>> {
  const [client, workflow, work] = [`client-${own}`, `asking-${own}`, `work-${own}`];
  const { api } = nova;
  const of = { params: { path: { id: workflow } } };
  const acme = { client };
  const credential = { kind: "custom" as const, values: { token: "a secret that is long enough" } };
  const found: Record<string, unknown> = {};
  found.health = await nova.health();
  found.newestKey = (await nova.publicKeys()).keys.at(-1);
  found.rotatedKey = await nova.rotateSigningKey();
  for (const path of ["/llms.txt", "/llms-full.txt"] as const)
    found[path] = (await nova.ask(api.GET(path, { parseAs: "text" }))) ?? "";
  const ping = { jsonrpc: "2.0" as const, id: 1, method: "ping" };
  found.mcp = await nova.ask(api.POST("/mcp", { body: ping, parseAs: "text" }));
  found.document = await nova.ask(api.GET("/openapi.json"));
  found.client = await nova.clients.create({ slug: client, name: "Acme" });
  found.clientAgain = await nova.clients.get(client);
  found.changed = await nova.clients.change(client, { name: "Acme Ltd" });
  found.stored = await nova.credentials.set(acme, "api", credential);
  found.storedForRuns = await nova.credentials.set({ workflow }, "api", credential).catch(problem);
  const flow = { ...asking, id: workflow, triggers: [{ type: "schedule", id: "daily", every: "1d" }] };
  found.validated = await nova.workflows.validate(flow);
  found.published = await nova.workflows.publish(flow);
  found.work = await nova.workflows.publish(inARow(work, { add: "context['sum'] = 1" }));
  await vi.waitFor(async () => expect((await nova.workflows.get(work)).status).toBe("ready"), 20_000);
  found.replaced = await nova.ask(api.PUT("/workflows/{id}", { ...of, body: flow as never }));
  found.storedForWorkflow = await nova.credentials.set({ workflow }, "api", credential);
  found.workflow = await nova.workflows.get(workflow);
  found.asl = await nova.workflows.asl(workflow);
  found.quotas = await nova.ask(api.GET("/workflows/{id}/quotas", of));
  found.quotasSet = await nova.ask(api.PUT("/workflows/{id}/quotas", { ...of, body: { max_concurrent: 9 } }));
  const upload = await nova.upload(new Blob(["bytes"]), { bytes: 5, client_slug: client });
  const context = { file: upload, ...large };
  const { execution_id: id } = await nova.executions.execute(workflow, { client_slug: client, context });
  const ran = await nova.executions.run(work, { client_slug: client, context: { n: 1 } });
  found.ran = ran;
  await vi.waitFor(async () => expect((await nova.executions.verify(ran.execution_id)).state).toBe("anchored"));
  found.proof = Object.keys((await nova.executions.proof(ran.execution_id)) as object);
  found.root = Object.keys((await nova.makeRoot()) as object);
  await nova.roots().next();
  found.execution = await vi.waitFor(async () => {
    const execution = await nova.executions.get(id);
    expect(execution.status).toBe("waiting");
    return execution;
  }, 20_000);
  found.findings = await nova.ask(api.GET("/workflows/{id}/findings", of));
  return { ...found, ...(await askSession(nova, client)), ...(await askRest(nova, { client, workflow, id })) };
}

async function askSession({ sessions, api, ask }: NovaClient, client: string): Promise<Record<string, unknown>> {
  const code = (id: string) => ({ id, type: "action", code: `context["${id}"] = 1` });
  const found: Record<string, unknown> = {};
  const made = await sessions.create({ client_slug: client, nodes: [code("a"), code("b")] });
  const { session_id: id } = made;
  found.session = made;
  const edge = { from: "a", to: "b" };
  found.edge = await sessions.addEdge(id, edge);
  found.node = await sessions.addNode(id, code("c"));
  found.changedNode = await sessions.changeNode(id, "c", { name: "The third" }, { version: 1 });
  found.changed = await sessions.change(id, { name: "Renamed" });
  found.checked = await sessions.check(id, "c");
  found.edgeGone = await sessions.deleteEdge(id, edge);
  found.nodeGone = await sessions.deleteNode(id, "c");
  await sessions.addEdge(id, edge);
  found.edited = await sessions.edit(id, { operations: [{ op: "change_node", id: "a", changes: { name: "A" } }] });
  found.ranDraft = await sessions.run(id);
  found.written = await sessions.writeOutput(id, "a", { a: 2 });
  found.ranNode = await sessions.runNode(id, "b", { context_data: { "id:a": { a: 3 } } });
  found.outputs = await sessions.outputs(id, ["b"]);
  found.publishedDraft = await sessions.publish(id, { workflow: `of-${client}` }).catch(problem);
  found.sessionAgain = await sessions.get(id);
  await sessions.list({ client }).next();
  const body = (more: object) => ({ body: { session_id: id, ...more } as never });
  found.nodeAdded = await ask(api.POST("/add_node", body({ node_id: "say", prompt_text: "Say {a}." })));
  found.edgeAdded = await ask(api.POST("/add_edge", body({ from_node: "b", to_node: "say" })));
  found.template = await ask(api.POST("/validate_template", body({ prompt_text: "Say {a}." })));
  found.nodeOutputs = await ask(api.POST("/get_node_outputs", body({})));
  // This request fails, because the test has no server for models.
  found.text = await ask(api.POST("/generate_text_node", body({ prompt_text: "Say." }))).catch(statusOf);
  found.executed = Object.keys(await ask(api.POST("/execute", body({}))));
  await sessions.delete(id);
  return found;
}

const statusOf = ({ status }: { status: number }) => status;

interface Made {
  client: string;
  workflow: string;
  id: string;
}

async function askRest(nova: NovaClient, { client, workflow, id }: Made): Promise<Record<string, unknown>> {
  const { api } = nova;
  const found: Record<string, unknown> = {};
  const lists = {
    chain: nova.executions.chain(id),
    diff: nova.executions.diff(id, id),
    executions: nova.executions.list({ client }),
    versions: nova.workflows.versions(workflow),
    generations: nova.workflows.generations(workflow),
    credentials: nova.credentials.list({ client }),
    credentialsOfWorkflow: nova.credentials.list({ workflow }),
  };
  for (const [name, list] of Object.entries(lists)) found[name] = (await Array.fromAsync(list as never)).slice(0, 1);
  for (const list of [nova.workflows.list(), nova.clients.list(), nova.keys.list(), nova.audit()]) await list.next();
  found.link = await nova.executions.link(id, 0);
  const printed = { params: { path: { id, seq: 1 } } };
  found.printed = await nova.ask(api.GET("/executions/{id}/chain/{seq}/logs", printed));
  found.restarted = await nova.executions.restart(id, { dry_run: true }).catch(problem);
  found.erased = await nova.executions.erase(id).catch(problem);
  found.verified = await nova.executions.verify(id);
  found.verifiedMany = await nova.ask(api.GET("/verifications", { params: { query: { client } } }));
  const { file } = (await nova.executions.get(id)).context as { file: { $blob: { sha256: string } } };
  const blob = { path: { id, sha256: file.$blob.sha256 } };
  const { url } = await nova.ask(api.GET("/executions/{id}/blobs/{sha256}", { params: blob }));
  found.blob = await (await fetch(url)).text();
  const daily = { params: { path: { id: workflow, trigger: "daily" } } };
  found.schedules = await nova.ask(api.GET("/schedules", { params: { query: { workflow } } }));
  for (const change of ["pause", "resume"] as const) {
    const of = { params: { path: { id: workflow } } };
    found[change] = await nova.ask(api.POST(`/workflows/{id}/${change}`, of));
    found[`${change} daily`] = await nova.ask(api.POST(`/workflows/{id}/schedules/{trigger}/${change}`, daily));
  }
  const slug = { path: { slug: client } };
  found.export = (await nova.ask(api.GET("/clients/{slug}/export", { params: slug }))).next_cursor;
  found.deliveries = await nova.ask(api.GET("/deliveries", { params: { query: { client } } }));
  for (const name of ["workflows", "nodes", "errors", "ai-cost"] as const) {
    found[name] = await nova.ask(api.GET(`/analytics/${name}`, { params: { query: { client } } }));
  }
  const name = { path: { slug: client, name: "api" } };
  found.credential = await nova.ask(api.GET("/clients/{slug}/credentials/{name}", { params: name }));
  const ofWorkflow = { path: { id: workflow, name: "api" } };
  found.credentialOfWorkflow = await nova.ask(api.GET("/workflows/{id}/credentials/{name}", { params: ofWorkflow }));
  found.formats = Object.keys(await nova.ask(api.GET("/formats")));
  found.rotated = Object.keys(await nova.credentials.rotate());
  found.event = await nova.ask(api.POST("/events", { body: { source: "shop", type: "paid" } }));
  found.hook = await nova.ask(api.POST("/hooks/{id}", { params: { path: { id: "nobodys" } } })).catch(problem);
  const tasks = await Array.fromAsync(nova.tasks.list());
  const task = tasks.find(({ execution_id }) => execution_id === id)?.task_id ?? "";
  found.task = (await nova.tasks.get(task)).message;
  const review = { node: "ask", key: "a".repeat(64), code_hash: "b".repeat(64), verdict: "approved" } as const;
  found.reviewed = await nova.workflows.review(workflow, review).catch(problem);
  found.withdrawn = await nova.tasks.withdraw(task).catch(problem);
  found.delegated = await nova.tasks.delegate(task, "deputy@acme.com").catch(problem);
  found.answered = await nova.tasks.answer(task, { choice: "approved" });
  found.answeredAgain = await nova.tasks.answerIn(id, { choice: "approved" }).catch(problem);
  found.cancelled = Object.keys(await nova.executions.cancel(id));
  found.activated = await nova.workflows.activate(workflow, 1);
  const key = await nova.keys.create({ role: "viewer" });
  found.keyGone = await nova.keys.delete(key.id);
  found.credentialGone = await nova.credentials.remove({ client }, "api");
  found.credentialOfWorkflowGone = await nova.credentials.remove({ workflow }, "api");
  await nova.clients.delete(client);
  found.nobody = await nova.clients.get("nobody").catch(problem);
  await nova.executions.untilEnded(id);
  found.workflowGone = await nova.workflows.delete(workflow);
  return found;
}

function problem({ status, message }: { status: number; message: string }) {
  return { status, message };
}

describe("the typed client", { timeout: 60_000 }, () => {
  let found: Record<keyof typeof servers, Record<string, unknown>>;

  it("gets an answer to every method, on a laptop and from a deployment", async () => {
    const local = await askAll(servers.local.nova, "one");
    const deployed = await askAll(servers.deployed.nova, "two");
    found = { local, deployed };
  });

  it("gets answers of the same shape on a laptop and from a deployment", () => {
    expect(shapeOf(found.deployed)).toEqual(shapeOf(found.local));
  });

  it("gets the same statuses on a laptop and from a deployment, except for publications", () => {
    const [local, deployed] = [routesIn(servers.local.answered), routesIn(servers.deployed.answered)];
    const publishing = { "POST /workflows": expect.anything(), "PUT /workflows/{id}": expect.anything() };
    expect(deployed).toEqual({ ...local, ...publishing });
    expect(Object.keys(local).toSorted()).toEqual(written.toSorted());
  });
});

/** Lists the different statuses that each route has returned. */
function routesIn(answered: readonly Answered[]): Record<string, number[]> {
  const found: Record<string, number[]> = {};
  for (const [request, status] of answered) {
    const route = routeOf(request);
    found[route] = [...new Set([...(found[route] ?? []), status])].toSorted();
  }
  return found;
}

const written = routes.map(({ method, path }) => `${method} ${path}`);

function routeOf(request: string): string {
  const fits = (route: string) => new RegExp(`^${route.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
  return written.find((route) => route === request) ?? written.find((route) => fits(route).test(request)) ?? request;
}

/** Returns only the names and types in a value, because the values themselves differ from run to run. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (value === null || typeof value !== "object") return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]));
}

const mayHaveNoBody = new Set([204, 304]);

/** A `fetch` that calls a handler as API Gateway's HTTP API does (payload format 2.0). */
function throughGateway(handler: ApiHandler) {
  return async (request: Request): Promise<Response> => {
    const { pathname: rawPath, search } = new URL(request.url);
    const text = await request.text();
    const answer = await handler(
      {
        version: "2.0",
        rawPath,
        rawQueryString: search.slice(1),
        headers: Object.fromEntries(request.headers),
        requestContext: { http: { method: request.method, path: rawPath, sourceIp: "192.0.2.1" } },
        ...(text !== "" && { body: text }),
        isBase64Encoded: false,
      },
      { awsRequestId: "request-1", getRemainingTimeInMillis: () => 30_000 },
    );
    const { statusCode: status, body = "", isBase64Encoded = false } = answer;
    const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
    // API Gateway adds a type and a length if the function sets none, even to an empty body.
    const headers = { "content-type": "application/json", "content-length": String(bytes.length), ...answer.headers };
    return new Response(mayHaveNoBody.has(status) ? null : bytes, { status, headers });
  };
}
