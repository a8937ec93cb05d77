import { describe, expect, it } from "vitest";
import { useApi } from "./support/api.ts";

const api = useApi();

const code = (id: string, text: string) => ({ id, type: "action", code: text });
const each = {
  id: "each",
  type: "map",
  items: "list",
  nodes: [
    code("double", 'context["two"] = context["item"] * 2'),
    code("add", 'context["sum"] = context["two"] + context["n"]'),
  ],
  edges: [{ from: "double", to: "add" }],
};

interface Standing {
  node_id: string;
  map: string;
  state: string;
  version: number;
}

async function create(map: object = each): Promise<string> {
  const nodes = [code("list", 'context["list"] = [21, 3]\ncontext["n"] = 1'), map, code("last", "pass")];
  const edges = ["list each", "each last"].map((one) => ({ from: one.split(" ")[0], to: one.split(" ")[1] }));
  const { status, body } = await api.call("POST /sessions", { body: { nodes, edges } });
  expect([status, body.detail]).toEqual([201, undefined]);
  return body.session_id;
}

const at = (id: string, node: string) => `/sessions/${id}/nodes/${node}`;
const read = async (id: string) => (await api.call(`GET /sessions/${id}`)).body;
const bodyOf = async (id: string, map = "each") =>
  (await read(id)).nodes.find(({ node_id }: Standing) => node_id === map).definition;
const standings = async (id: string): Promise<Record<string, string>> => {
  const { nodes, inside } = await read(id);
  return Object.fromEntries([...nodes, ...inside].map((one: Standing) => [one.node_id, `${one.state} ${one.version}`]));
};
const output = async (id: string, node: string) =>
  (await api.call(`GET /sessions/${id}/outputs?node=${node}`)).body.outputs[0].output;

describe("the nodes of a map in a session", { timeout: 60_000 }, () => {
  it("can be changed, added, connected and deleted like all other nodes, and these changes raise the version of their map", async () => {
    const id = await create();
    expect((await read(id)).inside).toMatchObject([
      { node_id: "double", map: "each", state: "stale", version: 1, source: null },
      { node_id: "add", map: "each" },
    ]);
    await api.call(`PATCH ${at(id, "double")}?version=1`, { body: { code: 'context["two"] = 0' } });
    expect(await standings(id)).toMatchObject({ double: "stale 2", each: "stale 2", add: "stale 1", last: "stale 1" });
    expect((await api.call(`PATCH ${at(id, "double")}?version=1`, { body: { code: "pass" } })).status).toBe(409);

    expect((await api.call(`POST /sessions/${id}/nodes?map=each`, { body: code("log", "pass") })).status).toBe(201);
    await api.call(`POST /sessions/${id}/edges`, { body: { from: "add", to: "log" } });
    expect(await bodyOf(id)).toMatchObject({
      nodes: [{ id: "double", code: 'context["two"] = 0' }, { id: "add" }, { id: "log" }],
      edges: [
        { from: "double", to: "add" },
        { from: "add", to: "log" },
      ],
    });
    await api.call(`DELETE ${at(id, "add")}`);
    expect(await bodyOf(id)).toMatchObject({ nodes: [{ id: "double" }, { id: "log" }], edges: [] });
  });

  it("can be changed by a list of edits, which NOVA applies completely or not at all", async () => {
    const id = await create();
    const edit = (operations: object[]) => api.call(`POST /sessions/${id}/edits`, { body: { operations } });
    const wrong = await edit([
      { op: "change_node", id: "double", changes: { code: "pass" } },
      { op: "add_node", map: "last", node: code("x", "pass") },
    ]);
    expect([wrong.status, wrong.body.detail]).toEqual([
      422,
      expect.stringMatching(/operation 2 of 2: node "last" has no nodes of its own/),
    ]);
    const { body } = await edit([
      { op: "add_node", map: "each", node: { ...each, id: "inner", nodes: [code("deep", "pass")], edges: [] } },
      { op: "add_node", map: "inner", node: code("deeper", "pass") },
      { op: "add_edge", from: "deep", to: "deeper" },
      { op: "add_edge", from: "add", to: "inner" },
      { op: "change_node", id: "deep", changes: { code: 'context["deep"] = 1' } },
    ]);
    expect(body.findings).toEqual([]);
    const [, , inner] = (await bodyOf(id)).nodes;
    expect(inner).toMatchObject({
      nodes: [{ id: "deep", code: 'context["deep"] = 1' }, { id: "deeper" }],
      edges: [{ from: "deep", to: "deeper" }],
    });
    expect((await read(id)).inside.map(({ node_id, map }: Standing) => `${map}.${node_id}`)).toEqual([
      "each.double",
      "each.add",
      "each.inner",
      "inner.deep",
      "inner.deeper",
    ]);
  });

  it("may lack edges, but must not have an edge from outside the map or the id of another node", async () => {
    const id = await create({ ...each, edges: [] });
    const refusal = async (call: string, body: object) => (await api.call(call, { body })).body.detail;
    expect(await refusal(`POST /sessions/${id}/edges`, { from: "list", to: "double" })).toMatch(/leads into a map/);
    expect(await refusal(`POST /sessions/${id}/nodes`, code("double", "pass"))).toMatch(/has a node "double" already/);
    expect(await refusal(`PATCH ${at(id, "double")}`, { colour: "red" })).toMatch(/colour/);
    const { nodes, edges } = await read(id);
    const definitions = nodes.map(({ definition }: { definition: object }) => definition);
    const twice = definitions.map((one: { id: string }) =>
      one.id === "each" ? { ...one, edges: [{ from: "double", to: "nowhere" }] } : one,
    );
    expect(await refusal(`PATCH /sessions/${id}`, { nodes: twice, edges })).toMatch(/no node "nowhere"/);
    const { findings } = (await api.call(`POST /sessions/${id}/edits`, { body: { operations: [] } })).body;
    expect(findings).toMatchObject([{ message: expect.stringMatching(/starts at only one/) }]);
  });

  it("cannot get the id of another node, even through a change of their map", async () => {
    const id = await create();
    const twice = [code("double", "pass"), code("list", "pass")];
    const isTaken = expect.stringMatching(/has a node "(list|twin)" already/);
    const changed = await api.call(`PATCH ${at(id, "each")}`, { body: { nodes: twice, edges: [] } });
    expect([changed.status, changed.body.detail]).toEqual([409, isTaken]);
    const twins = { ...each, id: "twins", nodes: [code("twin", "pass"), code("twin", "pass")], edges: [] };
    const added = await api.call(`POST /sessions/${id}/nodes`, { body: twins });
    expect([added.status, added.body.detail]).toEqual([409, isTaken]);
    expect(await bodyOf(id)).toEqual(each);
    expect((await api.call(`POST /sessions/${id}/nodes`, { body: code("item", "pass") })).status).toBe(201);
    const other = { ...each, id: "other", nodes: [code("inner", "pass")], edges: [] };
    expect((await api.call(`POST /sessions/${id}/nodes`, { body: other })).status).toBe(201);
  });

  it("can run alone if an earlier node has an agent with tools as its fallback", async () => {
    const agent = { id: "fix", type: "action", executor: "agent", prompt: "Fix", tools: ["pay"] };
    const list = { ...code("list", 'context["list"] = [21]\ncontext["n"] = 1'), fallback: "fix" };
    const pay = { ...code("pay", "pass"), description: "Pays.", input_schema: { type: "object" } };
    const body = { nodes: [list, agent, pay, each], edges: [{ from: "list", to: "each" }] };
    const { session_id: id } = (await api.call("POST /sessions", { body })).body;
    await api.call(`PUT ${at(id, "list")}/output`, { body: { output: { list: [21], n: 1 } } });
    const ran = await api.call(`POST ${at(id, "double")}/run`);
    expect([ran.body.detail, ran.body.status]).toEqual([undefined, "completed"]);
    expect(await output(id, "double")).toEqual({ two: 42 });
  });

  it("can run alone with the first item of their map after the nodes before them have outputs", async () => {
    const id = await create();
    const early = await api.call(`POST ${at(id, "double")}/run`);
    expect(early.body.detail).toMatch(/runs with the first item of its map, and there is no context\["list"\]/);
    expect((await api.call(`GET ${at(id, "double")}/check`)).body).toMatchObject({ findings: [], keys: null });
    await api.call(`POST ${at(id, "list")}/run`);
    const check = (await api.call(`GET ${at(id, "double")}/check`)).body;
    expect(check).toMatchObject({ findings: [], keys: expect.arrayContaining(["list", "item", "index"]) });

    const ran = await api.call(`POST ${at(id, "double")}/run`);
    expect(ran.body).toMatchObject({ status: "completed", runs: ["double"], reused: ["list"], ran: ["double"] });
    expect(await output(id, "double")).toEqual({ two: 42 });
    await api.call(`POST ${at(id, "add")}/run`);
    expect(await output(id, "add")).toEqual({ sum: 43 });
    expect(await standings(id)).toMatchObject({ double: "fresh 2", add: "fresh 2", each: "stale 1" });

    await api.call(`PATCH ${at(id, "last")}`, { body: { code: "x = 1" } });
    expect(await standings(id)).toMatchObject({ double: "fresh 2", add: "fresh 2" });
    await api.call(`PATCH ${at(id, "double")}`, { body: { code: 'context["two"] = 1' } });
    expect(await standings(id)).toMatchObject({ double: "stale 3", add: "stale 2", list: "fresh 2" });
    await api.call(`PUT ${at(id, "double")}/output`, { body: { output: { two: 7 } } });
    await api.call(`POST ${at(id, "add")}/run`);
    expect(await output(id, "add")).toEqual({ sum: 8 });
    await api.call(`PATCH ${at(id, "list")}`, { body: { code: 'context["list"] = []\ncontext["n"] = 1' } });
    expect(await standings(id)).toMatchObject({ double: "stale 4", add: "stale 3" });
    await api.call(`POST ${at(id, "list")}/run`);
    expect((await api.call(`POST ${at(id, "add")}/run`)).body.detail).toMatch(/context\["list"\] is empty/);
  });

  it("can use outputs of nodes before the map, even inside a map in a map", async () => {
    const say = { id: "say", type: "action", executor: "text", prompt: "Say {list} {one}." };
    const inner = {
      ...each,
      id: "inner",
      items: "row",
      as: "cell",
      nodes: [code("one", 'context["one"] = context["cell"] + context["n"]'), say],
      edges: [{ from: "one", to: "say" }],
    };
    const outer = { ...each, items: "rows", as: "row", nodes: [inner], edges: [] };
    const nodes = [code("list", 'context["rows"] = [[5], [6]]\ncontext["n"] = 1'), outer];
    const { body } = await api.call("POST /sessions", { body: { nodes, edges: [{ from: "list", to: "each" }] } });
    const id = body.session_id;
    await api.call(`POST ${at(id, "list")}/run`);
    await api.call(`POST ${at(id, "one")}/run`);
    expect(await output(id, "one")).toEqual({ one: 6 });
    const check = (await api.call(`GET ${at(id, "say")}/check`)).body;
    expect(check.findings).toEqual([]);
    expect(check.earlier.map((one: { id: string }) => one.id)).toEqual(["list", "one"]);
    expect(check.prompt.text).toContain("6");
  });

  it("are named in the findings about them when the session is published", async () => {
    const id = await create({ ...each, nodes: [code("double", "context["), ...each.nodes.slice(1)] });
    const { body } = await api.call(`POST /sessions/${id}/publish`, { body: { dry_run: true } });
    expect(body.findings[0]).toMatchObject({ node: "double", path: "$.nodes[2].nodes[0].code" });
  });
});
