import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ModelAction, type ModelServer, modelServer } from "../../support/model-server/model-server.ts";
import { useApi } from "./support/api.ts";

let server: ModelServer;
const answers: ModelAction[] = [];

beforeAll(async () => {
  server = await modelServer(() => answers.shift() ?? { status: 400, message: "nobody expected this" });
  Object.assign(process.env, server.environment);
});
const api = useApi();
beforeEach(() => {
  server.requests.length = 0;
});
afterAll(async () => {
  for (const name of Object.keys(server.environment)) delete process.env[name];
  await server[Symbol.asyncDispose]();
});

const ask = (path: string, body: object) => api.call(`POST ${path}`, { body });
const asked = () => server.requests.map(({ input }) => input);

const prompts = { brief: "Write about {topic}.", outline: "Outline {My Brief}.", edit: "Edit {outline[2]}." };
const edges = [
  { from: "brief", to: "outline" },
  { from: "outline", to: "edit" },
];
const nameOf = (node: string) => (node === "brief" ? { name: "My Brief" } : {});

/** Creates a session with three prompts in a row, with the requests of a front end of ScriptChain. Returns its id. */
async function chainOfPromptsByFrontEnd(): Promise<string> {
  const session_id = (await ask("/sessions", { context: { topic: "rivers" } })).body.session_id as string;
  for (const [node_id, prompt_text] of Object.entries(prompts)) {
    const node = { session_id, node_id, node_type: "text_generation", prompt_text, ...nameOf(node_id) };
    const added = await ask("/add_node", node);
    expect([added.status, added.body.detail]).toEqual([200, undefined]);
  }
  for (const { from, to } of edges)
    expect((await ask("/add_edge", { session_id, from_node: from, to_node: to })).status).toBe(200);
  return session_id;
}

/** Creates a session with the same prompts with one request. Returns its id. */
async function chainOfPrompts(): Promise<string> {
  const nodes = Object.entries(prompts).map(([id, prompt]) => {
    return { id, type: "action", executor: "text", on_missing: "mark", prompt, ...nameOf(id) };
  });
  const made = await ask("/sessions", { context: { topic: "rivers" }, nodes, edges });
  expect([made.status, made.body.detail]).toEqual([201, undefined]);
  return made.body.session_id;
}

/** Returns the nodes, the edges and the context of a session, without the versions of the nodes. */
async function definitions(session_id: string) {
  const { nodes, edges, context } = (await api.call(`GET /sessions/${session_id}`)).body;
  const facts = nodes.map(({ version: _, ...node }: { version: number }) => node);
  return { nodes: facts, edges, context };
}

describe("front ends of ScriptChain, the system before NOVA,", { timeout: 120_000 }, () => {
  it("run a chain of prompts, read outputs, and run stale nodes after an edit", { tags: ["deep"] }, async () => {
    const session_id = await chainOfPromptsByFrontEnd();
    answers.push({ text: "Long rivers." }, { text: "1. Nile\n2. Rhine" }, { text: "The Rhine." });
    const { body } = await ask("/execute", { session_id });
    expect(body).toMatchObject({
      status: "completed",
      error: null,
      retention_days: 30,
      results: { brief: "Long rivers.", outline: "1. Nile\n2. Rhine", edit: "The Rhine." },
    });
    expect(asked()).toEqual(["Write about rivers.", "Outline Long rivers..", "Edit Rhine."]);
    expect((await ask("/execute", { session_id })).body).toMatchObject({ execution_id: null, ran: [] });
    await api.call(`PATCH /sessions/${session_id}/nodes/edit`, {
      body: { prompt: "Praise {My Brief} and {outline[1]}." },
    });
    answers.push({ text: "Praised." });
    const again = (await ask("/execute", { session_id })).body;
    expect(again).toMatchObject({ reused: ["brief", "outline"], ran: ["edit"], results: { edit: "Praised." } });
    expect(asked().at(-1)).toBe("Praise Long rivers. and Nile.");
    const outputs = await ask("/get_node_outputs", { session_id, node_ids: ["brief"] });
    expect(outputs.body.outputs).toEqual({ brief: "Long rivers." });
    expect((await api.call(`GET /executions/${again.execution_id}/verify`)).body.state).toBe("anchored");
  });

  it("generate the text of one node, and raise the version of each input that they change", async () => {
    const session_id = await chainOfPrompts();
    answers.push({ text: "One outline." });
    const context_data = {
      __node_mapping: { "My Brief": "brief" },
      __current_node: "outline",
      "id:brief": "A brief by hand.",
      "My Brief": "A brief by hand.",
    };
    const request = {
      session_id,
      prompt_text: "Outline {My Brief} anew.",
      llm_config: { temperature: 0.5 },
      context_data,
    };
    const { body } = await ask("/generate_text_node", request);
    expect(body).toMatchObject({
      generated_text: "One outline.",
      prompt_tokens: 1000,
      completion_tokens: 100,
      total_tokens: 1100,
      session_id,
      cost: expect.any(Number),
      duration: expect.any(Number),
    });
    expect(body.cost).toBeGreaterThan(0);
    expect(asked()).toEqual(["Outline A brief by hand. anew."]);
    const shown = (await api.call(`GET /sessions/${session_id}`)).body;
    expect(
      shown.nodes.map(({ node_id, version, state }: { node_id: string; version: number; state: string }) => [
        node_id,
        version,
        state,
      ]),
    ).toEqual([
      ["brief", 2, "fresh"],
      ["outline", 3, "fresh"],
      ["edit", 1, "stale"],
    ]);
  });

  it("generate a text without a node", async () => {
    const { body: made } = await ask("/sessions", {});
    answers.push({ text: "A poem." });
    const context_data = { __node_mapping: { "My Input": "node_1" }, "id:node_1": "1. cats\n2. dogs" };
    const { session_id } = made;
    const { body } = await ask("/generate_text_node", { session_id, prompt_text: "On {My Input[2]}.", context_data });
    expect(body).toMatchObject({ generated_text: "A poem." });
    expect(asked()).toEqual(["On dogs."]);
    expect((await api.call(`GET /sessions/${session_id}`)).body.nodes).toEqual([]);
  });

  it("can see the final prompt before NOVA calls a model", async () => {
    const session_id = await chainOfPrompts();
    await api.call(`PUT /sessions/${session_id}/nodes/brief/output`, { body: { output: "By hand." } });
    const checked = await ask("/validate_template", {
      session_id,
      prompt_text: "{My Brief} and {Nobody[1]} and {outline}",
      context_data: { __node_mapping: { Nobody: "x" } },
    });
    expect(checked.body).toMatchObject({
      valid: false,
      processed_prompt: expect.stringMatching(/^By hand\. and \[CONTEXT_ERROR: Content for 'Nobody'/),
      processed_node_values: { "My Brief": "By hand." },
    });
    expect(checked.body.warnings).toHaveLength(2);
    expect(asked()).toEqual([]);
  });

  describe("that refer to a node without a value", () => {
    const marked = "[CONTEXT_ERROR: Content for 'Nobody' not found in provided context_data]";
    it.each([
      ["no data", {}],
      ["a name without an output", { __node_mapping: { Nobody: "n1" } }],
      ["an output of null", { __node_mapping: { Nobody: "n1" }, "id:n1": null }],
      ["data of other nodes", { __node_mapping: { Other: "n1" }, "id:n1": "x" }],
    ])(
      "get an answer and a warning, and the prompt contains an error text instead of the value: %s",
      async (_, context_data) => {
        const session_id = await chainOfPrompts();
        for (const current of [{}, { __current_node: "outline" }]) {
          answers.push({ text: "An answer." });
          const { status, body } = await ask("/generate_text_node", {
            session_id,
            prompt_text: "On {Nobody}.",
            context_data: { ...context_data, ...current },
          });
          expect([status, body.generated_text, body.warnings]).toEqual([
            200,
            "An answer.",
            ["{Nobody} has no value - send it in context_data, or correct the reference"],
          ]);
          expect(asked().at(-1)).toBe(`On ${marked}.`);
        }
      },
    );

    it.each([{}, { __node_mapping: { Nobody: "n1" } }])(
      "can request that NOVA refuses them before it calls a model, and nothing changes: %j",
      async (context_data) => {
        const session_id = await chainOfPrompts();
        const before = await definitions(session_id);
        const refused = await ask("/generate_text_node", {
          session_id,
          prompt_text: "On {Nobody}.",
          on_missing: "fail",
          context_data: { ...context_data, __current_node: "outline", "id:brief": "By hand." },
        });
        expect([refused.status, refused.body.detail]).toEqual([422, expect.stringContaining("{Nobody}")]);
        expect(asked()).toEqual([]);
        expect(await definitions(session_id)).toEqual(before);
      },
    );
  });

  it.each([
    ["a name with its id", { __node_mapping: { Guest: "guest" }, "id:guest": "x" }, "{Guest}"],
    ["a name in another spelling", { __node_mapping: { Guest: "guest" }, "id:guest": "x" }, "{guest }"],
    ["a plain name", { Guest: "x" }, "{Guest}"],
    ["an id", { "id:guest": "x" }, "{guest}"],
    [
      "the name of another node of the session",
      { __node_mapping: { "My Brief": "guest" }, "id:guest": "x" },
      "{My Brief}",
    ],
    ["the id of a node that runs later", { "id:edit": "x" }, "{edit}"],
  ])("can pass for one run a value that the session does not provide by %s", async (_, context_data, reference) => {
    const session_id = await chainOfPrompts();
    answers.push({ text: "An outline." });
    const { status, body } = await ask("/generate_text_node", {
      session_id,
      prompt_text: `On ${reference}.`,
      context_data: { __current_node: "outline", ...context_data },
    });
    expect([status, body.detail, body.warnings]).toEqual([200, undefined, []]);
    expect(asked()).toEqual(["On x."]);
    const { nodes } = (await api.call(`GET /sessions/${session_id}`)).body;
    expect(nodes.map(({ node_id }: { node_id: string }) => node_id)).toEqual(["brief", "outline", "edit"]);
    expect(nodes[1]).toMatchObject({ node_id: "outline", state: "stale" });
  });

  it("write the output of a node whose value they pass by name", async () => {
    const session_id = await chainOfPrompts();
    answers.push({ text: "An outline." });
    const context_data = { __current_node: "outline", "My Brief": "By hand." };
    await ask("/generate_text_node", { session_id, prompt_text: "On {My Brief}.", context_data });
    expect(asked()).toEqual(["On By hand.."]);
    expect((await ask("/get_node_outputs", { session_id })).body.outputs).toMatchObject({ brief: "By hand." });
  });

  it("use nodes without a prompt as inputs, and write the outputs of these nodes", async () => {
    const session_id = await chainOfPrompts();
    for (const node of [{ node_id: "note", name: "My Note" }, { node_id: "other" }])
      await ask("/add_node", { session_id, ...node });
    await ask("/add_edge", { session_id, from_node: "note", to_node: "brief" });
    await ask("/add_edge", { session_id, from_node: "other", to_node: "edit" });
    await api.call(`PATCH /sessions/${session_id}/nodes/brief`, { body: { prompt: "On {topic} and {My Note}." } });
    answers.push({ text: "A brief." }, { text: "1. Nile\n2. Rhine" }, { text: "The Rhine." });
    const { status, body } = await ask("/execute", { session_id });
    expect([status, body.status, body.ran, body.results]).toEqual([
      200,
      "completed",
      ["brief", "outline", "edit"],
      { note: null, other: null, brief: "A brief.", outline: "1. Nile\n2. Rhine", edit: "The Rhine." },
    ]);
    expect(asked()[0]).toMatch(/^On rivers and \[CONTEXT_ERROR: Content for 'My Note'/);
    expect((await ask("/execute", { session_id })).body.ran).toEqual([]);
    answers.push({ text: "Another brief." });
    const context_data = { __current_node: "brief", "id:note": "mud" };
    const written = await ask("/generate_text_node", { session_id, prompt_text: "On {My Note}.", context_data });
    expect([written.status, asked().at(-1)]).toEqual([200, "On mud."]);
    expect((await api.call(`GET /executions/${body.execution_id}/verify`)).body.state).toBe("anchored");
  });

  it.each([
    ["a prompt that no node can have", { prompt_text: "Hello.", llm_config: { max_tokens: 1 } }, 422],
    ["a missing node", { prompt_text: "Hello.", context_data: { __current_node: "nobody", "id:brief": "x" } }, 404],
    ["a node id that is no text", { prompt_text: "Hello.", context_data: { __current_node: 7, "id:brief": "x" } }, 422],
    ["a key that only NOVA may use", { prompt_text: "Hello.", context_data: { $ref: 1, "id:brief": "x" } }, 422],
    ["a model that refuses", { prompt_text: "Hello.", context_data: { "id:brief": "x" } }, 422],
  ])("change nothing in the session if their request fails: %s", async (_, request, status) => {
    const session_id = await chainOfPrompts();
    const before = await definitions(session_id);
    answers.push({ status: 400, message: "no such model" });
    const context_data = { __current_node: "outline", ...("context_data" in request ? request.context_data : {}) };
    const refused = await ask("/generate_text_node", { session_id, ...request, context_data });
    answers.length = 0;
    expect(refused.status).toBe(status);
    expect(await definitions(session_id)).toEqual(before);
  });

  it("change nothing if the monthly budget refuses a run", async () => {
    const client = await api.call("POST /clients", { body: { slug: "poor", name: "Poor" } });
    expect(client.status).toBe(201);
    const key = await api.key("editor", "poor");
    const call = (path: string, body: object) => api.call(`POST ${path}`, { body, key });
    await call("/add_node", { node_id: "a", prompt_text: "Hello." });
    await api.call("PATCH /clients/poor", { body: { quotas: { max_cost_usd: 1 } } });
    const month = new Date().toISOString().slice(0, 7);
    await api.ports.spending.note("poor", month, { execution: "exec_1", scope: "", seq: 1 }, 2);
    const refused = await call("/generate_text_node", { prompt_text: "Bye.", context_data: { __current_node: "a" } });
    expect(refused.status).toBe(422);
    const execute = await call("/execute", { initial_inputs: { topic: "x" } });
    expect(execute.status).toBe(422);
    const { session_id } = (await call("/get_node_outputs", {})).body;
    const session = (await api.call(`GET /sessions/${session_id}`, { key })).body;
    expect([session.context, session.nodes[0].version, session.nodes[0].definition.prompt]).toEqual([{}, 1, "Hello."]);
  });

  it("have a default session per key, and named sessions", async () => {
    const [key, other] = [await api.key("editor"), await api.key("editor")];
    const idOf = async (body: object, from = key) => {
      const { status, body: answer } = await api.call("POST /get_node_outputs", { body, key: from });
      return status === 200 ? (answer.session_id as string) : status;
    };
    const own = await idOf({});
    expect(own).toMatch(/^ses_/);
    expect([await idOf({}), await idOf({ session_id: null }), await idOf({ session_id: own })]).toEqual([
      own,
      own,
      own,
    ]);
    const mine = await idOf({ session_id: "my-chain" });
    expect(await idOf({ session_id: "my-chain" })).toBe(mine);
    const others = [await idOf({}, other), await idOf({ session_id: "my-chain" }, other)];
    expect(new Set([own, mine, ...others]).size).toBe(4);
    expect(
      (await Promise.all([1, 2, 3].map(() => idOf({ session_id: "new" })))).filter((id, _, all) => id === all[0]),
    ).toHaveLength(3);
    for (const session_id of ["", "a b", "ses_1", "x".repeat(65), "../x", 7, "\u0000"])
      expect(await idOf({ session_id })).toBe(422);
    await api.call(`DELETE /sessions/${own}`, { key });
    const next = await idOf({});
    expect(next).not.toBe(own);
    expect(await idOf({})).toBe(next);
  });

  it("can send null for every optional field", async () => {
    const ok = async (path: string, body: object) => {
      const { status, body: answer } = await ask(path, body);
      expect([path, status, answer.detail]).toEqual([path, 200, undefined]);
    };
    const session_id = (await ask("/sessions", { context: null })).body.session_id as string;
    const nothing = { provider: null, model: null, temperature: null, max_tokens: null };
    answers.push(...[1, 2, 3, 4].map(() => ({ text: "Yes." })));
    await ok("/add_node", {
      session_id,
      node_id: "a",
      node_type: null,
      name: null,
      prompt_text: null,
      system: null,
      llm_config: null,
      input_keys: null,
      output_schema: null,
    });
    await ok("/add_node", { session_id, node_id: "b", prompt_text: "Hello.", llm_config: nothing });
    await ok("/add_edge", { session_id, from_node: "a", to_node: "b", condition: null });
    await ok("/generate_text_node", { session_id, prompt_text: "Hello.", llm_config: null, context_data: null });
    await ok("/generate_text_node", { session_id, prompt_text: "Hello.", llm_config: nothing, on_missing: null });
    await ok("/get_node_outputs", { session_id, node_ids: null });
    await ok("/validate_template", { session_id, prompt_text: "Hello.", context_data: null });
    await ok("/execute", { session_id, initial_inputs: null });
    const node = { id: "c", executor: "text", prompt: "Hello.", model: null };
    expect((await ask(`/sessions/${session_id}/nodes`, node)).status).toBe(201);
    expect((await ask(`/sessions/${session_id}/nodes/c/run`, { context_data: null })).status).toBe(200);
  });

  it("can run a prompt without a node, even if a node of the session has the id `text`", async () => {
    const session_id = await chainOfPrompts();
    await ask("/add_node", { session_id, node_id: "text", prompt_text: "Hello." });
    answers.push({ text: "A poem." });
    expect((await ask("/generate_text_node", { session_id, prompt_text: "Poem." })).body.generated_text).toBe(
      "A poem.",
    );
  });

  it("generate the text of a decision, which stays a decision", async () => {
    const session_id = await chainOfPrompts();
    await ask("/add_node", { session_id, node_id: "choice", node_type: "decision", prompt_text: "Which?" });
    await ask("/add_edge", { session_id, from_node: "edit", to_node: "choice" });
    await ask("/add_node", { session_id, node_id: "end", prompt_text: "The end." });
    await ask("/add_edge", { session_id, from_node: "choice", to_node: "end", condition: "yes" });
    answers.push({ text: '{"branch_decision":"yes"}' });
    const context_data = { __current_node: "choice" };
    await ask("/generate_text_node", { session_id, prompt_text: "Really?", context_data });
    const { nodes } = (await api.call(`GET /sessions/${session_id}`)).body;
    expect(nodes.find(({ node_id }: { node_id: string }) => node_id === "choice").definition).toMatchObject({
      type: "decision",
      prompt: "Really?",
    });
    answers.length = 0;
  });

  it("get one sentence if a model refuses", async () => {
    const session_id = await chainOfPrompts();
    answers.push({ status: 400, message: "no such model" });
    const refused = await ask("/generate_text_node", { session_id, prompt_text: "Hello." });
    expect([refused.status, refused.body.detail]).toEqual([422, expect.stringContaining("no such model")]);
  });
});
