import { describe, expect, it } from "vitest";
import { useApi } from "./support/api.ts";

const api = useApi();

const code = (id: string, text: string) => ({ id, type: "action", code: text });
const nodes = [
  code("begin", 'context["most"] = 3'),
  code("count", 'context["n"] = context.get("n", 0) + 1'),
  {
    id: "check",
    type: "decision",
    code: 'context["branch_decision"] = "more" if context["n"] < context["most"] else "done"',
  },
  code("note", 'context["notes"] = context.get("notes", []) + [context["n"]]'),
  code("last", 'context["seen"] = [context["n"], context.get("notes")]'),
];
const edges = [
  { from: "begin", to: "count" },
  { from: "count", to: "check" },
  { from: "check", to: "note", condition: "more", max: 5 },
  { from: "check", to: "last", condition: "default" },
  { from: "note", to: "count" },
];

async function create(parts: object = {}): Promise<string> {
  const { status, body } = await api.call("POST /sessions", { body: { nodes, edges, ...parts } });
  expect([status, body.detail]).toEqual([201, undefined]);
  return body.session_id;
}

const run = async (id: string) => (await api.call(`POST /sessions/${id}/run`)).body;
const runAlone = async (id: string, node: string) => (await api.call(`POST /sessions/${id}/nodes/${node}/run`)).body;
const change = (id: string, node: string, text: string) =>
  api.call(`PATCH /sessions/${id}/nodes/${node}`, { body: { code: text } });
const output = async (id: string, node: string) =>
  (await api.call(`GET /sessions/${id}/outputs?node=${node}`)).body.outputs[0].output;

interface Standing {
  node_id: string;
  state: string;
  skipped: boolean;
}

async function stale(id: string): Promise<string[]> {
  const { body } = await api.call(`GET /sessions/${id}`);
  return body.nodes.flatMap(({ node_id, state }: Standing) => (state === "stale" ? [node_id] : []));
}

const all = nodes.map(({ id }) => id);
const loop = ["count", "check", "note"];

describe("a draft with a loop", { timeout: 60_000 }, () => {
  it("runs completely, repeats its loop as the published workflow does, and has only fresh nodes afterwards", async () => {
    const id = await create();
    const ran = await run(id);
    expect(ran).toMatchObject({ status: "completed", error: null, runs: all, ran: all, reused: [] });
    expect(await output(id, "last")).toEqual({ seen: [3, [1, 2]] });
    expect(await stale(id)).toEqual([]);
    const { body } = await api.call(`GET /sessions/${id}`);
    expect(body.nodes.filter(({ skipped }: Standing) => skipped)).toEqual([]);
    expect(await run(id)).toMatchObject({ execution_id: null, runs: [] });
    expect((await api.call(`GET /executions/${ran.execution_id}/verify`)).body.state).toBe("anchored");
  });

  it("runs the loop and all later nodes again if one of these nodes is stale, and reuses the nodes before the loop", async () => {
    const id = await create();
    await run(id);
    await change(id, "note", 'context["notes"] = context.get("notes", []) + ["round"]');
    expect(await stale(id)).toEqual([...loop, "last"]);
    const again = await run(id);
    expect(again).toMatchObject({ error: null, runs: [...loop, "last"], reused: ["begin"] });
    expect(await output(id, "last")).toEqual({ seen: [3, ["round", "round"]] });
    expect(await stale(id)).toEqual([]);

    await change(id, "last", 'context["seen"] = context["n"]');
    expect(await stale(id)).toEqual(["last"]);
    expect(await run(id)).toMatchObject({ error: null, runs: [...loop, "last"], reused: ["begin"] });
    expect([await output(id, "last"), await stale(id)]).toEqual([{ seen: 3 }, []]);
    await api.call(`PATCH /sessions/${id}`, { body: { edges: edges.with(2, { ...edges[2], max: 1 } as never) } });
    expect(await stale(id)).toEqual([...loop, "last"]);
    await run(id);
    expect(await output(id, "last")).toEqual({ seen: 2 });
  });

  it("marks the nodes of a second round as skipped if the run has only one round, even after a run with more rounds", async () => {
    const id = await create();
    await run(id);
    await change(id, "begin", 'context["most"] = 1');
    await run(id);
    expect([await output(id, "last"), await stale(id)]).toEqual([{ seen: [1, null] }, []]);
    const { body } = await api.call(`GET /sessions/${id}`);
    expect(body.nodes.filter(({ skipped }: Standing) => skipped)).toMatchObject([{ node_id: "note" }]);
  });

  it("shows the output of a node in or after the loop as stale if the node ran alone, because the output is from one round", async () => {
    const id = await create();
    await run(id);
    expect(await runAlone(id, "count")).toMatchObject({ status: "completed", ran: ["count"] });
    expect(await stale(id)).toEqual(["count", "check", "note", "last"]);
    await run(id);
    expect([await output(id, "count"), await stale(id)]).toEqual([{ n: 3 }, []]);
    await runAlone(id, "last");
    expect(await stale(id)).toEqual(["last"]);
    await run(id);
    expect([await output(id, "last"), await stale(id)]).toEqual([{ seen: [3, [1, 2]] }, []]);
  });

  it("has stale nodes from the loop onwards after a run that failed in a later round", async () => {
    const failing = code("note", 'context["notes"] = 1 if context["n"] == 1 else context["nowhere"]');
    const id = await create({ nodes: nodes.map((node) => (node.id === "note" ? failing : node)) });
    expect(await run(id)).toMatchObject({ status: "failed", error: { node: "note" } });
    expect(await stale(id)).toEqual([...loop, "last"]);
    await change(id, "note", "pass");
    expect(await run(id)).toMatchObject({ status: "completed", runs: [...loop, "last"], reused: ["begin"] });
    expect(await stale(id)).toEqual([]);
  });
});
