import { beforeAll, describe, expect, it } from "vitest";
import { inARow } from "../../support/cloud.ts";
import { expectRefusal, useApi } from "./support/api.ts";

const api = useApi();

const broken = "context['total'] = context['net'] + context['vat']";
const cured = "context['total'] = int(context['net']) + context['vat']";
const inputs = { type: "object", properties: { net: {} } };

const execute = async (workflow: string, context: object): Promise<string> =>
  (await api.call(`POST /workflows/${workflow}/execute?wait=20`, { body: { context } })).body.execution_id;

async function sessionOf(run: string, more: object = {}) {
  const { status, body } = await api.call("POST /sessions", { body: { run, ...more } });
  expect([status, body.detail]).toEqual([201, undefined]);
  return body;
}

const change = (session: string, node: string, code: string) =>
  api.call(`PATCH /sessions/${session}/nodes/${node}`, { body: { code } });
const runNode = (session: string, node: string) => api.call(`POST /sessions/${session}/nodes/${node}/run`);
const check = async (session: string, node: string) =>
  (await api.call(`GET /sessions/${session}/nodes/${node}/check`)).body;
const publish = (session: string) => api.call(`POST /sessions/${session}/publish`);

let failed: string;

beforeAll(async () => {
  const nodes = { read: "context['vat'] = 21", sum: broken, after: "context['done'] = True" };
  await api.call("POST /workflows", { body: inARow("bills", nodes, { inputs, labels: { n: "{net}" } }) });
  failed = await execute("bills", { net: "100" });
}, 60_000);

describe("a session made from a failed run", { timeout: 60_000 }, () => {
  it("has the failed node, the nodes before it with their outputs, and the context of the run", async () => {
    const session = await sessionOf(failed);
    expect(session).toMatchObject({
      workflow: "bills",
      context: { net: "100" },
      recorded: { execution_id: failed, node: "sum", version: 1, scope: "" },
      nodes: [
        { node_id: "read", state: "fresh", source: { execution_id: failed } },
        { node_id: "sum", state: "stale", source: null },
      ],
    });
    const { outputs } = (await api.call(`GET /sessions/${session.session_id}/outputs`)).body;
    expect(outputs[0].output).toEqual({ vat: 21 });
  });

  it("runs the changed node with the recorded context, and leaves the failed run open for restarts", async () => {
    const { session_id: id } = await sessionOf(failed);
    expect((await runNode(id, "sum")).body).toMatchObject({ status: "failed", error: { node: "sum" } });
    await change(id, "sum", cured);
    const { body } = await runNode(id, "sum");
    expect(body).toMatchObject({
      status: "completed",
      ran: ["sum"],
      reused: ["read"],
      outputs: [{ output: { total: 121 } }],
    });
    expect((await api.call(`GET /executions/${body.execution_id}/verify`)).body.state).toBe("anchored");
    expect((await api.call(`GET /executions/${failed}`)).body.restarts).toEqual([]);
  });

  it("checks the node with the recorded context, and lists the keys that it finds", async () => {
    const { session_id: id } = await sessionOf(failed);
    await change(id, "sum", "context['total'] = context['nett']");
    const checked = await check(id, "sum");
    expect(checked.keys).toEqual(["net", "vat"]);
    expect(checked.earlier).toEqual([{ id: "read", name: "read" }]);
    expect(checked.findings).toMatchObject([{ code: "PY110", severity: "error", path: "$.code", line: 1 }]);
    await change(id, "sum", "context['total'] = (");
    expect((await check(id, "sum")).findings).toMatchObject([{ code: "PY101", path: "$.code", line: 1 }]);
  });

  it("publishes the active version with the changed node, and a restart continues with this version", async () => {
    const { session_id: id } = await sessionOf(failed);
    await expectRefusal(publish(id), 422, /no node was changed/);
    await change(id, "sum", cured);
    const { status, body } = await publish(id);
    expect([status, body]).toMatchObject([201, { id: "bills", version: 2 }]);
    const { definition } = (await api.call("GET /workflows/bills")).body;
    const codes = definition.nodes.map(({ executor }: { executor?: { code: string } }) => executor?.code);
    expect(codes).toEqual([undefined, "context['vat'] = 21", cured, "context['done'] = True", undefined]);
    const restart = { body: { version: 2 } };
    const { body: run } = await api.call(`POST /executions/${failed}/restart?wait=20`, restart);
    expect(run).toMatchObject({ status: "completed", context: { total: 121, done: true } });
    const other = await sessionOf(failed);
    await change(other.session_id, "sum", "context['total'] = 5");
    await expectRefusal(publish(other.session_id), 409, /another node "sum" than version 1/);
  });
});

describe("a session made from a place of a run", { timeout: 60_000 }, () => {
  const each = {
    id: "each",
    type: "map",
    items: "list",
    as: "item",
    into: "halves",
    tolerated_failures: "100%",
    nodes: [
      { id: "twice", type: "action", code: "context['double'] = context['item'] * 2" },
      { id: "half", type: "action", code: "context['half'] = 10 / context['item'] + len(outputs['twice'])" },
    ],
    edges: [{ from: "twice", to: "half" }],
  };
  let run: string;

  beforeAll(async () => {
    const made = await api.call("POST /workflows", {
      body: inARow("halves", { begin: "context['list'] = [1, 0]", each }),
    });
    expect([made.status, made.body.detail]).toEqual([201, undefined]);
    run = await execute("halves", {});
  }, 60_000);

  it("has the item of the map, and the outputs of the nodes before the place", async () => {
    const session = await sessionOf(run, { place: "each[1].half" });
    expect(session.nodes.map(({ node_id }: { node_id: string }) => node_id)).toEqual(["begin", "twice", "half"]);
    await change(session.session_id, "half", "context['half'] = [context['item'], context['index'], outputs['twice']]");
    const { body } = await runNode(session.session_id, "half");
    expect(body).toMatchObject({ status: "completed", outputs: [{ output: { half: [0, 1, { double: 0 }] } }] });
  });

  it("changes the node in the body of the map, and nothing else", async () => {
    const { session_id: id } = await sessionOf(run, { place: "each[1].half" });
    await change(id, "half", "context['half'] = 0");
    expect((await publish(id)).body).toMatchObject({ id: "halves", version: 2 });
    const restarted = await api.call(`POST /executions/${run}/restart?wait=20`, { body: { version: 2 } });
    const { halves } = restarted.body.context;
    expect(halves.map(({ half }: { half: number }) => half)).toEqual([expect.any(Number), 0]);
  });

  it("is refused for an unknown place and for a run without a failure", async () => {
    await expectRefusal(api.call("POST /sessions", { body: { run, place: "nobody" } }), 404, /no place "nobody"/);
    await expectRefusal(api.call("POST /sessions", { body: { run } }), 422, /has no failed node/);
  });
});
