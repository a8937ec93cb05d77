import { beforeAll, describe, expect, it, vi } from "vitest";
import { readPosition } from "../../../packages/engine/src/chain/position.ts";
import { resumeUrl } from "../../../packages/engine/src/kinds/waiting/resume.ts";
import { useServer } from "../../cli/support/on-server.ts";
import { inARow } from "../../support/cloud.ts";
import { expectRefusal, useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();
const { nova, onServer, startOnServer } = useServer(api);
let [a, b] = ["", ""];

beforeAll(async () => {
  await api.call("POST /workflows", { body: inARow("adding", { add: "context['sum'] = context['n'] + 1" }) });
  await api.call("POST /clients", { body: { slug: "acme", name: "Acme" } });
  await api.call("POST /clients", { body: { slug: "other", name: "Other" } });
  [a, b] = [await run(1), await run(2, "acme")];
});

async function run(n: number, client_slug = "default"): Promise<string> {
  const body = { client_slug, context: { n } };
  return (await api.call("POST /workflows/adding/execute?wait=20", { body })).body.execution_id;
}

const nobody = `exec_${"0".repeat(26)}`;

describe("a comparison of two executions", () => {
  it("lists the differences node by node", async () => {
    const { status, body } = await api.call(`GET /executions/${a}/diff/${b}`);
    expect([status, body.next_cursor]).toEqual([200, null]);
    expect(body.items.map(({ place }: { place: string }) => place)).toEqual(["start", "add", "end"]);
    expect(body.items[1]).toEqual({
      place: "add",
      path: "both",
      definition: { same: true, was: expect.any(String), is: expect.any(String) },
      code: { same: true, was: expect.any(String), is: expect.any(String) },
      context: [{ key: "sum", was: 2, is: 3 }],
      cost: {
        was: { cost_usd: 0, execution_time_ms: expect.any(Number) },
        is: { cost_usd: 0, execution_time_ms: expect.any(Number) },
      },
    });
  });

  it.each([
    ["an invalid id", () => `${a}/diff/nothing`, () => 'there is no execution "nothing"'],
    ["an unknown id", () => `${nobody}/diff/${a}`, () => `there is no execution "${nobody}"`],
    ["an unknown second id", () => `${a}/diff/${nobody}`, () => `there is no execution "${nobody}"`],
  ])("says which execution is missing if the query names %s", async (_, path, detail) => {
    await expectRefusal(api.call(`GET /executions/${path()}`), 404, expect.stringContaining(detail()));
  });

  it("says that an execution is missing if it belongs to another client", async () => {
    const key = await api.key("viewer", "other");
    const own = await run(3, "other");
    expect((await api.call(`GET /executions/${own}/diff/${own}`, { key })).status).toBe(200);
    const missing = await api.call(`GET /executions/${own}/diff/${nobody}`, { key });
    for (const path of [`${own}/diff/${b}`, `${b}/diff/${own}`]) {
      await expectRefusal(api.call(`GET /executions/${path}`, { key }), 404, missing.body.detail.replaceAll(nobody, b));
    }
  });

  it("is refused if the query has a limit or an invalid cursor", async () => {
    expect((await api.call(`GET /executions/${a}/diff/${b}?limit=3`)).status).toBe(400);
    expect((await api.call(`GET /executions/${a}/diff/${b}?cursor=none`)).status).toBe(400);
  });
});

/** Starts a run that waits, and returns the resume link that the code of the run can read. */
async function waiting(customer: string) {
  const event = { source: ["crm"], detail: { customer: ["{{customer}}"] } };
  const nodes = [
    { id: "start", type: "start" },
    { id: "ask", type: "approval", message: "Go on?", choices: ["yes"] },
    { id: "wait", type: "wait", event },
    { id: "end", type: "end" },
  ];
  const edges = [
    { from: "start", to: "ask" },
    { from: "ask", to: "wait", condition: "yes" },
    { from: "wait", to: "end" },
  ];
  await api.call("POST /workflows", { body: { id: "linked", nodes, edges } });
  const started = await api.call("POST /workflows/linked/execute", { body: { context: { customer } } });
  const execution: string = started.body.execution_id;
  const position = await readPosition(api.ports, { execution, scope: "", seq: 1 });
  const url = new URL((await resumeUrl(api.ports, position, "wait")) ?? "");
  return { execution, path: `POST ${url.pathname}`, query: url.search };
}

it("a resume link needs no API key, works even before its wait begins, and works only once", async () => {
  const { execution, path, query } = await waiting("acme");
  const call = (search: string, body: unknown = { deal: 1 }) => api.call(path + search, { key: null, body });
  expect((await call(`${query.slice(0, -1)}${query.endsWith("A") ? "B" : "A"}`)).status).toBe(404);
  expect((await call("?token=short")).status).toBe(404);
  expect((await call(query, "{")).status).toBe(400);
  expect(await call(query)).toMatchObject({
    status: 200,
    body: { execution_id: execution, node: "wait", sent: false },
  });
  expect((await call(query, { deal: 2 })).status).toBe(409);
  const { body } = await api.call("GET /tasks");
  const { task_id: task } = body.items.find((item: { execution_id: string }) => item.execution_id === execution);
  await api.call(`POST /tasks/${task}`, { body: { choice: "yes" } });
  await api.cloud.untilEnd(execution);
  const run = await api.call(`GET /executions/${execution}`);
  expect(run.body).toMatchObject({ status: "completed", context: { wait: { deal: 1 } } });
});

it("a resume link to an ended run gets status 410", async () => {
  const { execution, path, query } = await waiting("initech");
  await api.call(`POST /executions/${execution}/cancel`);
  expect((await api.call(path + query, { key: null, body: {} })).status).toBe(410);
});

/** Code that prints texts and runs until a delivery kills it. */
const code = `
import time
print("begun with", context["pin"])
print(context["pin"][:6], end="", flush=True)
time.sleep(600)
`;

async function begin(): Promise<string> {
  const inputs = { type: "object", properties: { pin: { type: "string", secret: true } } };
  await api.call("POST /workflows", { body: inARow("endless", { endless: code }, { inputs }) });
  const body = { context: { pin: "4711-secret" } };
  return (await api.call("POST /workflows/endless/execute", { body })).body.execution_id;
}

it("the API and the command line, local or remote, show the running node and its output", async () => {
  const id = await begin();
  const logs = `GET /executions/${id}/chain/1/logs`;
  const printed = await vi.waitFor(
    async () => {
      const { body } = await api.call(logs);
      // Until the node has its turn, the API returns no output for the entry of the node.
      expect(body.text).toMatch(/begun/);
      return body;
    },
    { timeout: 20_000 },
  );
  // The API leaves out a possible start of a secret until more output follows.
  expect(printed).toEqual({ text: "begun with ***\n", left_out: 0, next: expect.stringMatching(/^0-1-\d+$/) });
  expect((await api.call(`${logs}?after=${printed.next}`)).body.text).toBe("");
  const { at_work } = (await api.call(`GET /executions/${id}`)).body;
  expect(at_work).toMatchObject({ count: 1, nodes: [{ node_id: "endless", seq: 1, attempt: 1, waits_for: null }] });
  expect((await nova("trace", id)).out).toMatch(/\nworking endless since \S+ \(\d.*\)\n/);
  expect(JSON.parse((await onServer("trace", id, "--json")).out)).toMatchObject({ at_work });

  const following = startOnServer("logs", id, "--follow");
  await vi.waitFor(() => expect(following.terminal.stdout).toContain("begun"), { timeout: 20_000 });
  await api.call(`POST /executions/${id}/cancel`);
  const { code, out } = await following.ended;
  expect([code, out]).toMatchObject([0, expect.stringMatching(/^1 endless\n {2}begun with \*\*\*\n/)]);
  expect(out.match(/begun/g)).toHaveLength(1);
  expect((await api.call(logs)).body).toEqual({ text: "", left_out: 0, next: null });
}, 60_000);

it("the API starts all of 200 runs that are requested at the same time", {
  timeout: 120_000,
  tags: ["deep"],
}, async () => {
  await api.call("POST /workflows", { body: asking });
  const start = () => api.call("POST /workflows/asking/execute", { body: {} });
  const answers = await Promise.all(Array.from({ length: 200 }, start));
  const ids = answers.map(({ body }) => body.execution_id);
  const records = await Promise.all(ids.map((id) => api.ports.executions.get(id)));
  expect(new Set(records.map((record) => record?.id)).size).toBe(200);
});
