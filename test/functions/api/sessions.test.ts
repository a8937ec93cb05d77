import { readSession, removeExpiredSessions } from "@nova/service";
import { describe, expect, it, vi } from "vitest";
import { inARow } from "../../support/cloud.ts";
import { expectRefusal, useApi } from "./support/api.ts";

const api = useApi();

/** Returns code that sets a key to a random number. A test can thus see whether the code ran again. */
const random = (key: string, more = "") => `import random\n${more}\ncontext["${key}"] = random.random()`;

interface NodeState {
  node_id: string;
  version: number;
  state: string;
  source: object | null;
}

async function session(nodes: Record<string, string>, edges: [string, string][], more: object = {}): Promise<string> {
  const body = {
    nodes: Object.entries(nodes).map(([id, code]) => ({ id, type: "action", code })),
    edges: edges.map(([from, to]) => ({ from, to })),
    ...more,
  };
  const made = await api.call("POST /sessions", { body });
  expect([made.status, made.body.detail]).toEqual([201, undefined]);
  return made.body.session_id;
}

async function states(id: string): Promise<Record<string, string>> {
  const { body } = await api.call(`GET /sessions/${id}`);
  return Object.fromEntries(body.nodes.map(({ node_id, state }: NodeState) => [node_id, state]));
}

const chain = (): Promise<string> =>
  session({ a: random("a"), b: random("b"), c: random("c") }, [
    ["a", "b"],
    ["b", "c"],
  ]);

const run = (id: string) => api.call(`POST /sessions/${id}/run`);
const patch = (id: string, node: string, body: object, query = "") =>
  api.call(`PATCH /sessions/${id}/nodes/${node}${query}`, { body });

describe("a session", { timeout: 60_000 }, () => {
  it("runs only stale nodes, and reports the reused nodes", async () => {
    const id = await chain();
    expect(await states(id)).toEqual({ a: "stale", b: "stale", c: "stale" });
    const first = await run(id);
    expect(first.body).toMatchObject({ status: "completed", runs: ["a", "b", "c"], reused: [], ran: ["a", "b", "c"] });
    expect(await states(id)).toEqual({ a: "fresh", b: "fresh", c: "fresh" });
    const again = await run(id);
    expect(again.body).toMatchObject({ execution_id: null, runs: [], reused: ["a", "b", "c"], status: "completed" });
    await patch(id, "b", { code: random("b", "x = context['a']") });
    expect(await states(id)).toEqual({ a: "fresh", b: "stale", c: "stale" });
    const third = await run(id);
    expect(third.body).toMatchObject({ runs: ["b", "c"], reused: ["a"], ran: ["b", "c"], error: null });
    const { context } = (await api.call(`GET /executions/${third.body.execution_id}`)).body;
    expect(context.a).toBe(first.body.outputs[0].output.a);
    expect(context.b).not.toBe(first.body.outputs[1].output.b);
    expect((await api.call(`GET /executions/${third.body.execution_id}/verify`)).body.state).toBe("anchored");
  });
});

describe("the draft of a session", { timeout: 60_000 }, () => {
  it("runs nested branches in parallel, and reuses the unchanged branch after an edit", async () => {
    const id = await session({ a: random("a"), b: random("b"), c: random("c"), d: random("d") }, [
      ["a", "b"],
      ["a", "c"],
      ["b", "d"],
      ["c", "d"],
    ]);
    const first = await run(id);
    expect(first.body).toMatchObject({ shape: "graph", shape_why: null, ran: ["a", "b", "c", "d"] });
    await patch(id, "b", { code: random("b", "pass") });
    expect(await states(id)).toEqual({ a: "fresh", b: "stale", c: "fresh", d: "stale" });
    const second = await run(id);
    expect(second.body).toMatchObject({ runs: ["b", "d"], reused: ["a", "c"], error: null });
    const { items } = (await api.call(`GET /executions/${second.body.execution_id}/chain`)).body;
    const nodes = JSON.stringify(items);
    expect(nodes).toContain('"node_id":"c"');
    expect(nodes).not.toContain('"node_id":"a"');
    const { context } = (await api.call(`GET /executions/${second.body.execution_id}`)).body;
    expect([context.a, context.c]).toEqual([first.body.outputs[0].output.a, first.body.outputs[2].output.c]);
    expect((await api.call(`GET /executions/${second.body.execution_id}/verify`)).body.state).toBe("anchored");
  });

  it("may have an approval without edges, and every answer to this approval leads to the end", async () => {
    const ask = { id: "ask", type: "approval", message: "Go on?", choices: ["approved", "rejected"] };
    const made = await api.call("POST /sessions", { body: { nodes: [ask] } });
    expect(made.status).toBe(201);
    const { status, body } = await api.call(`POST /sessions/${made.body.session_id}/run?wait=0`);
    expect([status, body.runs]).toEqual([202, ["ask"]]);
    await vi.waitFor(async () => expect((await api.call("GET /tasks")).body.items).toMatchObject([{ node: "ask" }]));
  });

  it("lists the tools of an agent separately from its other nodes", async () => {
    const agent = { id: "answer", type: "action", executor: "agent", prompt: "Answer.", tools: ["find"] };
    const find = { id: "find", type: "action", code: "pass" };
    const { body } = await api.call("POST /sessions", { body: { nodes: [agent, find] } });
    expect(body.nodes).toMatchObject([{ node_id: "answer" }]);
    expect(body.beside).toEqual([{ node_id: "find", version: 1, definition: find }]);
  });

  it("runs its nodes one after the other if its branches do not nest, and the response gives this reason", async () => {
    const id = await session({ a: random("a"), b: random("b"), c: random("c"), d: random("d") }, [
      ["a", "c"],
      ["a", "d"],
      ["b", "d"],
    ]);
    const { body } = await run(id);
    expect(body).toMatchObject({ status: "completed", shape: "line", ran: ["a", "b", "c", "d"] });
    expect(body.shape_why).toMatch(/do not nest .*one after the other: a, b, c, d/);
  });

  it("follows decisions, and marks each node that no decision chose as skipped and fresh", async () => {
    const nodes = [
      { id: "big", type: "decision", code: "context['branch_decision'] = context['n'] > 5" },
      { id: "yes", code: random("yes") },
      { id: "no", code: random("no") },
    ];
    const edges = [
      { from: "big", to: "yes", condition: true },
      { from: "big", to: "no", condition: false },
    ];
    const { body } = await api.call("POST /sessions", { body: { nodes, edges, context: { n: 9 } } });
    const ran = await run(body.session_id);
    expect(ran.body).toMatchObject({ status: "completed", ran: ["big", "yes"], error: null });
    const shown = await api.call(`GET /sessions/${body.session_id}`);
    expect(shown.body.nodes).toMatchObject([
      { node_id: "big", state: "fresh", decision: "true", skipped: false },
      { node_id: "yes", state: "fresh", skipped: false },
      { node_id: "no", state: "fresh", skipped: true, source: null },
    ]);
    const chosen = await api.call(`PUT /sessions/${body.session_id}/nodes/big/output`, {
      body: { output: { branch_decision: false }, decision: "false" },
    });
    expect(chosen.body.outputs).toMatchObject([{ decision: "false", source: { edited_by: expect.any(String) } }]);
    expect((await run(body.session_id)).body).toMatchObject({ ran: ["no"], reused: ["big"], error: null });
  });

  it("runs a map, and reuses its list", async () => {
    const each = {
      id: "each",
      type: "map",
      items: "list",
      as: "item",
      into: "doubled",
      nodes: [{ id: "double", type: "action", code: "context['twice'] = context['item'] * 2" }],
      edges: [],
    };
    const nodes = [each, { id: "sum", code: "context['sum'] = sum(one['twice'] for one in context['doubled'])" }];
    const edges = [{ from: "each", to: "sum" }];
    const { body } = await api.call("POST /sessions", { body: { nodes, edges, context: { list: [1, 2, 3] } } });
    expect((await run(body.session_id)).body).toMatchObject({ ran: ["each", "sum"], error: null });
    await patch(body.session_id, "sum", { code: "context['sum'] = len(context['doubled'])" });
    const again = await run(body.session_id);
    expect(again.body).toMatchObject({ ran: ["sum"], reused: ["each"], outputs: [{ output: { sum: 3 } }] });
  });

  it("provides the outputs of reused nodes to later nodes", async () => {
    const edges: [string, string][] = [
      ["a", "b"],
      ["b", "c"],
    ];
    const nodes = { a: "context['x'] = 1", b: "context['x'] = 2", c: "context['seen'] = 0" };
    const id = await session(nodes, edges, { context: { x: 0 } });
    await run(id);
    const given = "[outputs[name]['x'] for name in sorted(outputs)]";
    await patch(id, "c", { code: `context['seen'] = [context['x'], sorted(outputs), ${given}]` });
    const { body } = await run(id);
    expect(body.reused).toEqual(["a", "b"]);
    expect(body.outputs).toMatchObject([{ output: { seen: [2, ["a", "b", "start"], [1, 2, 0]] } }]);
  });

  it("reuses large values, and keeps the exact numbers of an output that a person writes", async () => {
    const id = await session({ a: "context['big'] = 'x' * 100_000", b: "context['n'] = 1" }, [["a", "b"]], {
      context: { exact: 1 },
    });
    await run(id);
    await patch(id, "b", { code: "context['n'] = len(context['big'])" });
    const { body } = await run(id);
    expect(body).toMatchObject({ reused: ["a"], outputs: [{ output: { n: 100_000 } }], error: null });
    expect((await api.call(`GET /executions/${body.execution_id}/verify`)).body.state).toBe("anchored");
    const put = await api.call(`PUT /sessions/${id}/nodes/a/output`, {
      body: '{"output": {"big": 12345678901234567890.10}}',
    });
    expect(put.text).toContain("12345678901234567890.10");
  });

  it("continues a run from the failed node", async () => {
    const id = await session({ a: random("a"), b: "raise ValueError('no')", c: random("c") }, [
      ["a", "b"],
      ["b", "c"],
    ]);
    const { body } = await run(id);
    expect(body).toMatchObject({ status: "failed", ran: ["a"], error: { node: "b", class: "NodeFailed" } });
    expect(await states(id)).toEqual({ a: "fresh", b: "stale", c: "stale" });
    await patch(id, "b", { code: random("b") });
    expect((await run(id)).body).toMatchObject({ runs: ["b", "c"], reused: ["a"], ran: ["b", "c"], error: null });
  });
});

describe("the output of a node in a session", { timeout: 60_000 }, () => {
  it("is used, gets a new version and makes the descendants of the node stale if a person has written it", async () => {
    const id = await chain();
    await run(id);
    const before = (await api.call(`GET /sessions/${id}/outputs?node=a`)).body.outputs[0];
    const { body } = await api.call(`PUT /sessions/${id}/nodes/a/output`, { body: { output: { a: 7 } } });
    expect(body.outputs).toMatchObject([
      { node_id: "a", version: before.version + 1, state: "fresh", output: { a: 7 } },
    ]);
    expect(await states(id)).toEqual({ a: "fresh", b: "stale", c: "stale" });
    await patch(id, "b", { code: "context['b'] = context['a'] + 1" });
    const ran = await run(id);
    expect(ran.body).toMatchObject({ reused: ["a"], outputs: [{ node_id: "b", output: { b: 8 } }, { node_id: "c" }] });
    const single = await api.call(`PUT /sessions/${id}/nodes/b/output`, { body: { output: 9 } });
    expect(single.body.outputs).toMatchObject([{ output: { b: 9 } }]);
    expect((await api.call(`PUT /sessions/${id}/nodes/b/output`, { body: { output: 9 } })).status).toBe(409);
  });

  it("is computed from the outputs of earlier nodes if its node runs alone, and gets a new version if it changes", async () => {
    const id = await session({ a: "context['a'] = 1", b: "context['b'] = context['a'] * 10" }, [["a", "b"]]);
    await run(id);
    const node = (body: object) => api.call(`POST /sessions/${id}/nodes/b/run`, { body });
    const data = { __node_mapping: { A: "a" }, __current_node: "b", "id:a": { a: 5 }, A: { a: 5 } };
    const ran = await node({ context_data: data });
    expect(ran.body).toMatchObject({ runs: ["b"], reused: ["a"], outputs: [{ output: { b: 50 }, state: "fresh" }] });
    const versions = async () =>
      (await api.call(`GET /sessions/${id}`)).body.nodes.map(({ version }: NodeState) => version);
    expect(await versions()).toEqual([3, 3]);
    await node({ context_data: data });
    expect(await versions()).toEqual([3, 4]);
    await expectRefusal(node({ context_data: { "id:zzz": 1 } }), 404, 'the session has no node "zzz" - it has a, b');
    await expectRefusal(node({ context_data: { __current_node: "a" } }), 422, /"__current_node" is "a"/);
  });

  it("does not depend on the outputs of other branches if the node is in a branch", async () => {
    const code = { a: "context['a'] = 1", b: "context['b'] = 2", c: "context['c'] = context['a'] + 2" };
    const id = await session(code, [
      ["a", "b"],
      ["a", "c"],
    ]);
    await run(id);
    const alone = await api.call(`POST /sessions/${id}/nodes/c/run`);
    expect(alone.body).toMatchObject({ runs: ["c"], reused: ["a"], outputs: [{ node_id: "c", output: { c: 3 } }] });
  });
});

describe("editors of a session", { timeout: 60_000 }, () => {
  it("get a conflict if another editor has changed the node since they read it", async () => {
    const id = await chain();
    const { body } = await api.call(`GET /sessions/${id}`);
    const [{ version }] = body.nodes;
    expect((await patch(id, "a", { code: "context['a'] = 1" }, `?version=${version}`)).status).toBe(200);
    const second = await patch(id, "a", { code: "context['a'] = 2" }, `?version=${version}`);
    expect(second.status).toBe(409);
    expect(second.body.detail).toMatch(
      /at version 2, and you have read 1: node "a" was changed: code, by key_.* at 20/,
    );
    const edge = await api.call(`DELETE /sessions/${id}/edges?from=a&to=b&revision=${body.revision}`);
    expect([edge.status, edge.body.detail]).toEqual([409, expect.stringMatching(/is at revision 2/)]);
    const shown = await api.call(`GET /sessions/${id}`);
    expect(shown.body.nodes[0].definition.code).toBe("context['a'] = 1");
  });

  it("can change different nodes at the same time", async () => {
    const id = await chain();
    const answers = await Promise.all(
      ["a", "b", "c"].map((node) => patch(id, node, { code: `context['${node}'] = 1` })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { body } = await api.call(`GET /sessions/${id}`);
    expect(body.nodes.map(({ definition }: { definition: { code: string } }) => definition.code)).toEqual(
      ["a", "b", "c"].map((node) => `context['${node}'] = 1`),
    );
  });

  it.each<[string, string, object, number, RegExp]>([
    ["a cycle", "POST /edges", { from: "c", to: "a" }, 422, /close a cycle: a -> b -> c -> a/],
    [
      "an edge to a node that does not exist",
      "POST /edges",
      { from: "c", to: "zzz" },
      404,
      /no node "zzz" - it has a, b, c/,
    ],
    ["an existing edge", "POST /edges", { from: "a", to: "b" }, 409, /"a" to "b" is there already/],
    ["an existing node", "POST /nodes", { id: "a", code: "pass" }, 409, /a node "a" already/],
    ["an unknown kind", "POST /nodes", { id: "x", type: "robot" }, 422, /robot/],
    ["a key that the kind does not have", "POST /nodes", { id: "x", code: "pass", colour: "red" }, 422, /colour/],
    ["a key of another kind", "PATCH /nodes/a", { choices: ["x"] }, 422, /choices/],
    ["an unknown node", "PATCH /nodes/zzz", { code: "pass" }, 404, /no node "zzz"/],
    ["a changed id", "PATCH /nodes/a", { id: "x" }, 422, /keeps its id/],
  ])("get a refusal in one sentence if they send %s", async (_what, request, body, status, sentence) => {
    const id = await chain();
    const [method, path] = request.split(" ");
    await expectRefusal(api.call(`${method} /sessions/${id}${path}`, { body }), status, sentence);
  });
});

describe("a stored session", { timeout: 60_000 }, () => {
  it("is deleted with its hidden draft workflow, while its runs remain and can be verified", async () => {
    const id = await chain();
    const { body } = await run(id);
    const execution = await api.ports.executions.get(body.execution_id);
    const arn = execution?.stateMachineArn ?? "";
    expect(await api.ports.machineVersions.list(arn)).toHaveLength(1);
    const workflow = execution?.workflowId ?? "";
    expect(workflow).toMatch(/^draft-/);
    for (const path of [`/workflows/${workflow}`, `/workflows/${workflow}/versions`])
      expect((await api.call(`GET ${path}`)).status).toBe(404);
    expect((await api.call(`POST /workflows/${workflow}/execute`, { body: {} })).status).toBe(404);
    expect((await api.call("GET /workflows?limit=200")).text).not.toContain("draft-");
    expect((await api.call(`DELETE /sessions/${id}`)).status).toBe(204);
    for (const request of ["GET", "DELETE"]) expect((await api.call(`${request} /sessions/${id}`)).status).toBe(404);
    expect((await api.call("GET /sessions?limit=200")).text).not.toContain(id);
    await expect(api.ports.machineVersions.list(arn)).rejects.toThrow();
    expect((await api.call(`GET /executions/${body.execution_id}/verify`)).body.state).toBe("anchored");
    const { items } = (await api.call("GET /audit?limit=200")).body;
    const deeds = items.filter(({ subject }: { subject: string }) => subject === id);
    expect(deeds.map(({ action }: { action: string }) => action)).toEqual([
      "session.deleted",
      "session.run",
      "session.created",
    ]);
  });

  it("is hidden after its retention time, and then deleted by the sweeper", async () => {
    const { body } = await api.call("POST /sessions", { body: { retention_days: 2 } });
    expect(body).toMatchObject({ retention_days: 2, nodes: [] });
    const later = { ...api.ports, clock: { ...api.ports.clock, now: () => Date.now() + 3 * 24 * 60 * 60 * 1000 } };
    const by = { id: "key", role: "admin", client: null, name: "" } as const;
    await expect(readSession(later, by, body.session_id)).rejects.toThrow(/there is no session/);
    expect(await removeExpiredSessions(later)).toContain(body.session_id);
    expect(await api.ports.sessions.get(body.session_id)).toBeUndefined();
  });

  it("loses the outputs that come from a run that was erased", async () => {
    const id = await chain();
    const first = await run(id);
    await patch(id, "c", { code: random("c", "pass") });
    const second = await run(id);
    expect(second.body.restarted_from).toBeUndefined();
    const shown = (await api.call(`GET /executions/${second.body.execution_id}`)).body;
    expect(shown.restarted_from).toBe(first.body.execution_id);
    const erased = await api.call(`POST /executions/${first.body.execution_id}/erase`);
    expect(erased).toMatchObject({ status: 202 });
    expect(erased.body.erased.toSorted()).toEqual([first.body.execution_id, second.body.execution_id].toSorted());
    expect(await states(id)).toEqual({ a: "stale", b: "stale", c: "stale" });
    expect((await run(id)).body).toMatchObject({ ran: ["a", "b", "c"], reused: [], error: null });
  });

  it("is deleted with its client, and no other client's export contains it", async () => {
    await api.call("POST /clients", { body: { slug: "gone", name: "Gone" } });
    const more = { client_slug: "gone", context: { word: "of-gone" } };
    const id = await session({ a: "context['a'] = context['word']  # of-gone" }, [], more);
    await run(id);
    const exported = async (slug: string) => {
      let text = "";
      for (let cursor: string | null = ""; cursor !== null; ) {
        const page = await api.call(`GET /clients/${slug}/export${cursor === "" ? "" : `?cursor=${cursor}`}`);
        text += page.text;
        cursor = page.body.next_cursor;
      }
      return text;
    };
    expect(await exported("gone")).toContain(id);
    await api.call("POST /clients", { body: { slug: "other", name: "Other" } });
    const other = await exported("other");
    expect(other).not.toContain(id);
    expect(other).not.toContain("of-gone");
    await api.call("DELETE /clients/gone");
    await vi.waitFor(async () => expect((await api.call("GET /clients/gone")).status).toBe(404), 20_000);
    expect(await api.ports.sessions.get(id)).toBeUndefined();
  });
});

describe("a session in the API", { timeout: 60_000 }, () => {
  const parts = (id: string, body: object, query = "") => api.call(`PATCH /sessions/${id}${query}`, { body });

  it("keeps the outputs of unchanged nodes when an editor replaces parts of it, and reports the changes to other editors", async () => {
    const id = await chain();
    await run(id);
    const { body: before } = await api.call(`GET /sessions/${id}`);
    const [a, b] = before.nodes.map(({ definition }: { definition: object }) => definition);
    const inserted = { id: "x", type: "action", code: "context['x'] = 1" };
    const edges = [
      { from: "a", to: "x" },
      { from: "x", to: "b" },
    ];
    const layout = { x: { x: 10, y: 20.5 } };
    const change = { nodes: [a, inserted, b], edges, layout, name: "Shorter" };
    const { body } = await parts(id, change, `?revision=${before.revision}`);
    expect(body).toMatchObject({ name: "Shorter", edges, layout });
    expect(await states(id)).toEqual({ a: "fresh", x: "stale", b: "stale" });
    await expectRefusal(
      parts(id, { nodes: [] }, `?revision=${before.revision}`),
      409,
      /x added; c deleted; edges changed/,
    );
    const undone = {
      nodes: before.nodes.map(({ definition }: { definition: object }) => definition),
      edges: before.edges,
    };
    await parts(id, undone);
    expect(await states(id)).toEqual({ a: "fresh", b: "fresh", c: "stale" });
  });

  it("refuses a node that can never run, and an edge to a node that does not exist", async () => {
    const id = await chain();
    await expectRefusal(parts(id, { nodes: [{ id: "a", type: "action", colour: 1 }], edges: [] }), 422, /"colour"/);
    await expectRefusal(parts(id, { edges: [{ from: "a", to: "nowhere" }] }), 404, /no node "nowhere"/);
    expect(await states(id)).toEqual({ a: "stale", b: "stale", c: "stale" });
  });

  it("checks a prompt, and shows the prompt as the model gets it", async () => {
    const nodes = [
      { id: "topic", name: "The topic", type: "action", code: "context['topic'] = 'rivers'" },
      { id: "brief", type: "action", executor: "text", prompt: "Write of {The topic} for {who}, not of {nobody}." },
    ];
    const edges = [{ from: "topic", to: "brief" }];
    const { body } = await api.call("POST /sessions", { body: { nodes, edges, context: { who: "children" } } });
    await api.call(`POST /sessions/${body.session_id}/nodes/topic/run`);
    const checked = (await api.call(`GET /sessions/${body.session_id}/nodes/brief/check`)).body;
    expect(checked.prompt.text).toContain("Write of rivers for children");
    expect(checked.prompt.references).toEqual([
      { reference: "{The topic}", value: "rivers" },
      { reference: "{who}", value: "children" },
      { reference: "{nobody}", value: null },
    ]);
    expect(checked.earlier).toEqual([{ id: "topic", name: "The topic" }]);
  });

  it("can start from a workflow file with incomplete nodes, and keeps the triggers of the file", async () => {
    const triggers = [{ type: "schedule", every: "1 day" }];
    const definition = {
      name: "From a file",
      triggers,
      nodes: [
        { id: "start", type: "start" },
        { id: "a", type: "action", codeFile: "a.py" },
        { id: "b", type: "action" },
      ],
      edges: [{ from: "start", to: "a" }],
    };
    const { body } = await api.call("POST /sessions", { body: { definition, files: { "a.py": "pass" } } });
    expect(body).toMatchObject({ name: "From a file", settings: { triggers }, edges: [{ from: "start", to: "a" }] });
    expect(body.nodes[0].definition).toEqual({ id: "a", type: "action", code: "pass" });
    const nodes = [body.nodes[0].definition];
    const { body: less } = await parts(body.session_id, { nodes, edges: body.edges });
    expect(less.edges).toEqual([{ from: "start", to: "a" }]);
    await expectRefusal(parts(body.session_id, { nodes, edges: [{ from: "a", to: "b" }] }), 404, /no node "b"/);
  });
});

describe("the publication of a session", { timeout: 60_000 }, () => {
  it("creates an ordinary version, from which another session can start", async () => {
    const id = await chain();
    const published = await api.call(`POST /sessions/${id}/publish`, { body: { workflow: "from-session" } });
    expect([published.status, published.body]).toMatchObject([
      201,
      { id: "from-session", version: 1, status: "ready" },
    ]);
    const ran = await api.call("POST /workflows/from-session/execute?wait=20", { body: {} });
    expect(ran.body).toMatchObject({ status: "completed", path: ["start", "a", "b", "c", "end"] });
    const { body } = await api.call("POST /sessions", { body: { workflow: "from-session" } });
    expect(body.nodes.map(({ node_id }: NodeState) => node_id)).toEqual(["a", "b", "c"]);
    expect((await run(body.session_id)).body).toMatchObject({ ran: ["a", "b", "c"], error: null });
    await patch(body.session_id, "c", { code: "context['c'] = 'new'" });
    expect((await run(body.session_id)).body).toMatchObject({ ran: ["c"], reused: ["a", "b"] });
    const next = await api.call(`POST /sessions/${body.session_id}/publish`);
    expect(next.body).toMatchObject({ id: "from-session", version: 2 });
  });

  it("is refused for an invalid workflow and for an API key of one client", async () => {
    const { body } = await api.call("POST /sessions", { body: { nodes: [{ id: "a" }] } });
    const publish = (workflow: string, key?: string) =>
      api.call(`POST /sessions/${body.session_id}/publish`, { body: { workflow }, ...(key !== undefined && { key }) });
    const dry = await api.call(`POST /sessions/${body.session_id}/publish`, { body: { dry_run: true } });
    expect(dry).toMatchObject({ status: 200, body: { id: "untitled", valid: false, findings: [{ code: "NOVA401" }] } });
    expect((await api.call("GET /workflows/untitled")).status).toBe(404);
    await expectRefusal(publish("invalid"), 422, /"a" has no code/);
    expect((await publish("invalid", await api.key("editor", "default"))).status).toBe(403);
  });

  it("keeps the receivers of failures", async () => {
    const on_failure = { webhook: "https://pager.example.com/" };
    const made = await api.call("POST /workflows", { body: { ...inARow("watched", { a: "pass" }), on_failure } });
    expect(made.status).toBe(201);
    const { session_id: id } = (await api.call("POST /sessions", { body: { workflow: "watched" } })).body;
    await patch(id, "a", { code: "context['a'] = 1" });
    expect((await api.call(`POST /sessions/${id}/publish`)).body).toMatchObject({ id: "watched", version: 2 });
    const { definition } = (await api.call("GET /workflows/watched")).body;
    expect(definition.onFailure).toEqual(
      (await api.call("GET /workflows/watched?version=1")).body.definition.onFailure,
    );
    expect(JSON.stringify(definition.onFailure)).toContain("pager.example.com");
  });

  it("keeps the loops of its workflow", async () => {
    const nodes = [
      { id: "start", type: "start" },
      { id: "ask", type: "action", code: "pass" },
      { id: "check", type: "decision", code: "context['branch_decision'] = 'done'" },
      { id: "end", type: "end" },
    ];
    const edges = [
      { from: "start", to: "ask" },
      { from: "ask", to: "check" },
      { from: "check", to: "end", condition: "done" },
      { from: "check", to: "end", condition: "default" },
      { from: "check", to: "ask", condition: "again", max: 3 },
    ];
    await api.call("POST /workflows", { body: { id: "looping", name: "Looping", nodes, edges } });
    const { body } = await api.call("POST /sessions", { body: { workflow: "looping" } });
    expect(body.edges).toContainEqual({ from: "check", to: "ask", condition: "again", max: 3 });
    const at = `/sessions/${body.session_id}`;
    const changed = await api.call(`PATCH ${at}/nodes/ask`, { body: { code: "context['asked'] = 1" } });
    expect([changed.status, changed.body.detail]).toEqual([200, undefined]);
    const published = await api.call(`POST ${at}/publish`);
    expect([published.status, published.body.detail]).toEqual([201, undefined]);
    const { definition } = (await api.call("GET /workflows/looping")).body;
    expect(definition.edges).toContainEqual({ from: "check", to: "ask", condition: "again", max: 3 });
  });
});
