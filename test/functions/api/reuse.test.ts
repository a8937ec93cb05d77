import { beforeAll, expect, it } from "vitest";
import { useServer } from "../../cli/support/on-server.ts";
import { inARow } from "../../support/cloud.ts";
import { expectRefusal, useApi } from "./support/api.ts";

const api = useApi();
const { onServer } = useServer(api);

const random = (key: string) => `import random\ncontext["${key}"] = random.random()`;
const code = { one: `${random("a")} + context["x"]`, two: `${random("b")} + context["y"]`, three: random("c") };
let run: { execution_id: string; context: Record<string, number> };

const execute = (workflow: string, context: object, more: object = {}) =>
  api.call(`POST /workflows/${workflow}/execute?wait=20`, { body: { context, ...more } });

async function reusedBy(id: string): Promise<string[]> {
  const { items } = (await api.call(`GET /executions/${id}/chain`)).body;
  return items.flatMap(({ node_id, reused_from }: { node_id: string; reused_from: object | null }) =>
    reused_from ? [node_id] : [],
  );
}

beforeAll(async () => {
  await api.call("POST /workflows", { body: inARow("reused", code) });
  await api.call("POST /workflows", { body: inARow("other", { work: "pass" }) });
  run = (await execute("reused", { x: 1, y: 1 })).body;
});

it("a run that reuses outcomes of an earlier run runs only nodes that read a changed value", async () => {
  const { body } = await execute("reused", { x: 2, y: 1 }, { reuse: run.execution_id });
  expect(body).toMatchObject({ status: "completed", restarted_from: run.execution_id, nodes: 1 });
  expect(await reusedBy(body.execution_id)).toEqual(["two", "three"]);
  expect([body.context.b, body.context.c]).toEqual([run.context.b, run.context.c]);
});

it("a run that reuses outcomes runs the changed nodes of its version and the nodes that read their new values", async () => {
  const two = `${code.two}\ncontext["x"] = context["x"]`;
  const three = `${code.three}\ncontext["c"] += context["b"]`;
  const { body } = await api.call("POST /workflows", { body: inARow("reused", { ...code, two, three }) });
  const ran = await execute("reused", { x: 1, y: 1 }, { reuse: run.execution_id, version: body.version });
  expect(await reusedBy(ran.body.execution_id)).toEqual(["one"]);
});

it.each([
  ["that does not exist", () => "exec_01M8A1XSZGSS6K9KMK7WD1193C", 404, /there is no execution/],
  [
    "of another workflow",
    async () => (await execute("other", {})).body.execution_id,
    422,
    /is one of workflow "other"/,
  ],
])(
  "a run that reuses outcomes of an execution %s is refused with a sentence, and does not start",
  async (_what, id, status, sentence) => {
    const reuse = await id();
    const before = (await api.call("GET /executions?limit=200")).body.items.length;
    await expectRefusal(execute("reused", { x: 1, y: 1 }, { reuse }), status, sentence);
    expect((await api.call("GET /executions?limit=200")).body.items).toHaveLength(before);
  },
);

it("a run that reuses outcomes of an execution of another client is refused", async () => {
  await api.call("POST /clients", { body: { slug: "acme", name: "Acme" } });
  const refused = await execute("reused", { x: 1, y: 1 }, { reuse: run.execution_id, client_slug: "acme" });
  expect([refused.status, refused.body.detail]).toEqual([422, expect.stringMatching(/is one of client "default"/)]);
});

it("nova start has an option to reuse the outcomes of an earlier run", async () => {
  const args = ["reused", "--set", "x=1", "--set", "y=3", "--of", "1", "--json", "--reuse", run.execution_id];
  const { out } = await onServer("start", ...args);
  expect(await reusedBy(JSON.parse(out).execution_id)).toEqual(["one", "three"]);
});
