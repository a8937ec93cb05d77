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

/** Three prompts in a row, as a front end of the earlier system makes them. */
async function chainOfPrompts(): Promise<string> {
  const { body } = await ask("/sessions", { context: { topic: "rivers" } });
  const session_id = body.session_id as string;
  const prompts = { brief: "Write about {topic}.", outline: "Outline {My Brief}.", edit: "Edit {outline[2]}." };
  const names: Record<string, string> = { brief: "My Brief" };
  for (const [node_id, prompt_text] of Object.entries(prompts)) {
    const name = names[node_id] === undefined ? {} : { name: names[node_id] };
    const added = await ask("/add_node", { session_id, node_id, node_type: "text_generation", prompt_text, ...name });
    expect([added.status, added.body.detail]).toEqual([200, undefined]);
  }
  for (const [from_node, to_node] of [
    ["brief", "outline"],
    ["outline", "edit"],
  ])
    expect((await ask("/add_edge", { session_id, from_node, to_node })).status).toBe(200);
  return session_id;
}

describe("front ends of the earlier system", { timeout: 120_000 }, () => {
  it("run a chain of prompts, ask for outputs, and run what is stale after an edit", async () => {
    const session_id = await chainOfPrompts();
    answers.push({ text: "Long rivers." }, { text: "1. Nile\n2. Rhine" }, { text: "The Rhine." });
    const { body } = await ask("/execute", { session_id });
    expect(body).toMatchObject({
      ...{ status: "completed", error: null, retention_days: 30 },
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

  it("have the text of one node written, with inputs that raise their versions where they changed", async () => {
    const session_id = await chainOfPrompts();
    answers.push({ text: "One outline." });
    const context_data = {
      ...{ __node_mapping: { "My Brief": "brief" }, __current_node: "outline" },
      ...{ "id:brief": "A brief by hand.", "My Brief": "A brief by hand." },
    };
    const request = {
      session_id,
      prompt_text: "Outline {My Brief} anew.",
      llm_config: { temperature: 0.5 },
      context_data,
    };
    const { body } = await ask("/generate_text_node", request);
    expect(body).toMatchObject({
      ...{ generated_text: "One outline.", prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
      ...{ session_id, cost: expect.any(Number), duration: expect.any(Number) },
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

  it("have a text written that belongs to no node", async () => {
    const { body: made } = await ask("/sessions", {});
    answers.push({ text: "A poem." });
    const context_data = { __node_mapping: { "My Input": "node_1" }, "id:node_1": "1. cats\n2. dogs" };
    const { session_id } = made;
    const { body } = await ask("/generate_text_node", { session_id, prompt_text: "On {My Input[2]}.", context_data });
    expect(body).toMatchObject({ generated_text: "A poem." });
    expect(asked()).toEqual(["On dogs."]);
    expect((await api.call(`GET /sessions/${session_id}`)).body.nodes).toEqual([]);
  });

  it("see what a prompt comes to before anybody is asked", async () => {
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

  it("hear in one sentence what a model refused", async () => {
    const session_id = await chainOfPrompts();
    answers.push({ status: 400, message: "no such model" });
    const refused = await ask("/generate_text_node", { session_id, prompt_text: "Hello." });
    expect([refused.status, refused.body.detail]).toEqual([422, expect.stringContaining("no such model")]);
  });
});
