import { planReuse, readTrace, startExecution, type Trace, type WorkflowVersion } from "@nova/engine";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { entryOf, inARow, openTestCloud, type TestCloud, verified } from "../support/cloud.ts";
import { type ModelAction, type ModelServer, modelServer } from "../support/model-server/model-server.ts";

let cloud: TestCloud;
let server: ModelServer;
let answers: ModelAction[] = [];
let runs = 0;

beforeAll(async () => {
  server = await modelServer(() => answers.shift() ?? { status: 400, message: "nobody expected this" });
  Object.assign(process.env, server.environment);
  cloud = await openTestCloud();
});
beforeEach(() => {
  server.requests.length = 0;
});
afterAll(async () => {
  await cloud.close();
  for (const name of Object.keys(server.environment)) delete process.env[name];
  await server[Symbol.asyncDispose]();
});

const text = (prompt: string, more: object = {}) => ({ executor: "text", prompt, ...more });

async function told(
  nodes: Record<string, string | object>,
  said: ModelAction[],
  context = "{}",
  workflow: object = {},
) {
  answers = [...said];
  return cloud.run(await cloud.publish(inARow(`texts-${++runs}`, nodes, workflow)), context);
}

describe("a text node", () => {
  it("asks its model with values of other nodes in the prompt, and stores the answer", async () => {
    const trace = await told(
      {
        facts: 'context["total"] = 850.0; context["lines"] = ["1. tea", "2. milk"]',
        outline: text("Outline {facts.total} for {start.topic}.", { name: "My Outline", system: "Be short." }),
        edit: text('Edit {my outline[2]} as {"json": true}', { into: "final" }),
      },
      [{ text: "1. Rivers\n2. Lakes" }, { text: "Done." }],
      '{"topic":"water"}',
    );
    expect(trace.execution).toMatchObject({ status: "completed", spent: { tokens_input: 2000, tokens_output: 200 } });
    expect(server.requests.map(({ role, input, answer }) => [role, input, answer])).toEqual([
      ["text", "Outline 850.0 for water.", null],
      ["text", 'Edit Lakes as {"json": true}', null],
    ]);
    expect(server.requests[1]?.instructions).toContain('{"start":"start","facts":"facts","My Outline":"outline"}');
    expect(JSON.parse(trace.context.text)).toMatchObject({ outline: "1. Rivers\n2. Lakes", final: "Done." });
    const entry = entryOf(trace, "edit");
    expect(entry).toMatchObject({
      sandbox_id: null,
      code_executed: 'Edit {my outline[2]} as {"json": true}',
      ai_metadata: {
        model: "gpt-6.1-terra",
        tokens_input: 1000,
        tokens_output: 100,
        cost_usd: expect.any(Number),
        processed_prompt: 'Edit Lakes as {"json": true}',
        processed_node_values: { "my outline[2]": "Lakes" },
        references: [{ reference: "{my outline[2]}", node: "outline", found_by: "similar name", item: "label" }],
        status: "success",
      },
    });
    expect(entry.steps).toMatchObject([{ agent_name: "TextWriter", step_name: "text_generation", answer: "Done." }]);
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("gives its answer to the code of later nodes under the names `output`, `generated_text` and `content`", async () => {
    const trace = await told(
      {
        answer: text("Say {start.n}", { output_schema: { type: "object", properties: { n: { type: "number" } } } }),
        look: 'context["seen"] = dict(outputs["answer"])',
      },
      [{ json: { n: 12 } }],
      '{"n":1}',
    );
    expect(trace.execution.status).toBe("completed");
    expect(JSON.parse(trace.context.text).seen).toEqual({
      output: { n: 12 },
      generated_text: '{"n":12}',
      content: '{"n":12}',
    });
  });

  it("stores a large answer as a blob that the code and the prompts of later nodes can read", async () => {
    const long = `1. ${"x".repeat(20_000)}\n2. short`;
    const trace = await told(
      { answer: text("Say"), look: 'context["n"] = len(outputs["answer"]["content"])', next: text("{answer[2]}") },
      [{ text: long }, { text: "ok" }],
    );
    expect(trace.execution.status).toBe("completed");
    expect(JSON.parse(trace.context.text)).toMatchObject({ answer: { $blob: { type: "text" } }, n: long.length });
    expect(server.requests[1]?.input).toBe("short");
  });

  it("asks its model again after an invalid answer, and after a second one fails with both answers in the error", async () => {
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const mended = await told({ work: text("Say", { output_schema: schema }) }, [{ text: "no" }, { json: { n: 1 } }]);
    expect(JSON.parse(mended.context.text).work).toEqual({ n: 1 });
    expect(server.requests[1]?.input).toContain("It does not fit");
    const failed = await told({ work: text("Say", { output_schema: schema }) }, [
      { json: { m: 1 } },
      { json: { n: "x" } },
    ]);
    expect(failed.execution.status).toBe("failed");
    expect(entryOf(failed).error_message).toMatch(/two answers .*"\{\\"m\\":1\}".*"\{\\"n\\":\\"x\\"\}"/);
  });

  it("stores the answer of its model without the model's reasoning", async () => {
    const schema = { type: "object", properties: { total: { type: "number" } }, required: ["total"] };
    const trace = await told(
      { total: text("Say", { output_schema: schema }), words: text("Say"), next: text("{words}") },
      [
        { text: 'The net is {"total": 10} ... plus tax.</think>{"total": 12.1}' },
        { text: "<THINKING>He is rude.</THINKING>\n\nDear Sir," },
        { text: "ok" },
      ],
    );
    expect(JSON.parse(trace.context.text)).toMatchObject({ total: { total: 12.1 }, words: "Dear Sir," });
    expect(server.requests[2]?.input).toBe("Dear Sir,");
  });

  it.each([
    ["an empty answer", { text: "" }, "it is empty"],
    ["only thoughts", { text: "<think>hm" }, "it is empty"],
  ])(
    "asks its model a second time after %s, and mentions a schema only if the node has a schema",
    async (_, empty, problem) => {
      const mended = await told({ work: text("Say") }, [empty, { text: "Done." }]);
      expect(JSON.parse(mended.context.text).work).toBe("Done.");
      const failed = await told({ work: text("Say") }, [empty, empty]);
      const message = `node "work": two answers of its model do not fit: ${problem} - name another model, or ask for less; the first was "", the second ""`;
      expect(entryOf(failed).error_message).toBe(message);
    },
  );

  it("asks its model again after an answer with several JSON objects, and fails after a second such answer", async () => {
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const unsure = { text: '[{"n": 1}, {"n": 2}]' };
    const mended = await told({ work: text("Say", { output_schema: schema }) }, [unsure, { json: { n: 1 } }]);
    expect(JSON.parse(mended.context.text).work).toEqual({ n: 1 });
    const failed = await told({ work: text("Say", { output_schema: schema }) }, [unsure, unsure]);
    expect(entryOf(failed).error_message).toMatch(/do not fit: it is ambiguous: it has 2 different JSON objects/);
  });

  it("fails with a hint to use another API if the model's server ignores schemas", async () => {
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const trace = await told({ work: text("Say", { output_schema: schema }) }, [{ text: "no" }, { text: "never" }]);
    const message = entryOf(trace).error_message ?? "";
    expect(message).toMatch(
      /there is no JSON object in it - set NOVA_LLM_API=chat .*, or name another model, or ask for less;/,
    );
    expect(message.match(/name another model/g)).toHaveLength(1);
  });

  it.each([
    ["a model that refuses", { refusal: "I cannot" } as ModelAction, "NodeFailed", /refusal/],
    ["a rate limit", { status: 429, headers: { "retry-after-ms": "1" } } as ModelAction, "ModelUnavailable", /429/],
  ])("fails with an error that names the reason if it gets %s", async (_, trouble, name, message) => {
    const trace = await told({ work: text("Say") }, Array<ModelAction>(9).fill(trouble));
    expect(entryOf(trace)).toMatchObject({ error_class: name, error_message: expect.stringMatching(message) });
  });

  it("fails if its model sends nothing until the node's timeout", async () => {
    const trace = await told({ work: text("Say", { timeout: 1 }) }, Array<ModelAction>(9).fill({ silent: true }));
    expect(entryOf(trace)).toMatchObject({
      error_class: "ModelUnavailable",
      error_message: expect.stringMatching(/none came within 1 s/),
    });
  });

  it("does not treat values in its prompt as templates, and sends the model settings of the node", async () => {
    const llm_config = { provider: "openai", model: "gpt-4.1-mini", temperature: 0.2, max_tokens: 64 };
    await told(
      { a: text("Say"), work: text("Use {a}", { llm_config }) },
      [{ text: "{start.key} \\{ {{x}}" }, { text: "ok" }],
      '{"key":"no"}',
    );
    expect(server.requests.at(-1)).toMatchObject({
      model: "gpt-4.1-mini",
      input: "Use {start.key} \\{ {{x}}",
      body: { temperature: 0.2, max_output_tokens: 64 },
    });
  });

  it("fails with the name of a missing value, or marks the missing value in the prompt if `on_missing` is `mark`", async () => {
    const failed = await told({ a: text("Say"), work: text("Use {a[9]}") }, [{ text: "1. one" }]);
    expect(entryOf(failed).error_message).toMatch(/\{a\[9\]\} has no value/);
    const marked = await told({ a: text("Say"), work: text("Use {Name}", { on_missing: "mark" }) }, [
      { text: "1. one" },
      { text: "ok" },
    ]);
    expect(marked.execution.status).toBe("completed");
    expect(server.requests.at(-1)?.input).toBe(
      "Use [CONTEXT_ERROR: Content for 'Name' not found in provided context_data]",
    );
  });

  it("sends no request if its prompt exceeds the context window of its model", async () => {
    const value = { inputs: { properties: { big: { type: "string" } } } };
    const trace = await told(
      { work: text("{start.big}", { model: "gpt-4o-2024-08-06", max_chars: 1_000_000 }) },
      [],
      JSON.stringify({ big: "word ".repeat(150_000) }),
      value,
    );
    expect(entryOf(trace).error_message).toMatch(/about 1\d{5} tokens.*takes 128000/);
    expect(server.requests).toEqual([]);
  });

  it("sends no secret input to its model", async () => {
    const inputs = { properties: { key: { type: "string", secret: true } } };
    const trace = await told({ work: text("Use {start.key}") }, [{ text: "ok" }], '{"key":"hunter2secret"}', {
      inputs,
    });
    expect(trace.execution.status).toBe("completed");
    expect(JSON.stringify(server.requests)).not.toContain("hunter2secret");
    expect(JSON.stringify(entryOf(trace).ai_metadata)).not.toContain("hunter2secret");
  });

  it("fails before a request that would exceed its cost limit", async () => {
    const trace = await told({ work: text("Say", { limits: { max_cost_usd: 0.0000001 } }) }, []);
    expect(entryOf(trace)).toMatchObject({ error_class: "BudgetExceeded" });
  });
});

describe("the cost of a text node", () => {
  const notes = (trace: Trace) => entryOf(trace, "work").ai_metadata?.cost_notes;

  it("has no note in the trace if it is exact", async () => {
    const trace = await told({ work: text("Say", { limits: { max_cost_usd: 1 } }) }, [{ text: "ok" }]);
    expect(notes(trace)).toBeUndefined();
  });

  it("has a note in the trace if a cost limit is set and the model has no price", async () => {
    const limited = await told({ work: text("Say", { model: "m", limits: { max_cost_usd: 0.01 } }) }, [{ text: "ok" }]);
    expect(notes(limited)).toEqual([
      'model "m" has no price here and counts as $0, so max_cost_usd cannot be enforced - name a model with a price, or limit it at its provider',
    ]);
    expect(await verified(cloud, limited)).toBe("anchored");
    expect(notes(await told({ work: text("Say", { model: "m" }) }, [{ text: "ok" }]))).toBeUndefined();
  });

  it.each<[string, object]>([
    ["1e20 tokens", { input: 1e20 }],
    ["negative tokens", { output: -1_000_000 }],
    ["a billion cached tokens", { cached: 1e9 }],
    ["token counts that are texts", { input: "x", output: "y" }],
    ["token counts that are fractions", { input: 0.5 }],
  ])("is estimated, with a note in the trace, if a server reports %s", async (_what, usage) => {
    const trace = await told({ work: text("Say", { limits: { max_cost_usd: 1 } }) }, [{ text: "ok", usage }]);
    expect(trace.execution).toMatchObject({ status: "completed", open: false });
    expect(trace.execution.spent?.cost_usd).toBeGreaterThan(0);
    expect(trace.execution.spent?.cost_usd).toBeLessThan(0.05);
    expect(notes(trace)).toEqual([expect.stringContaining("are estimated from the bytes that were sent and received")]);
    expect(await verified(cloud, trace)).toBe("anchored");
  });
});

it("the answer of a text node is reused if its model would get the same prompt", async () => {
  const nodes = (prompt: string) =>
    inARow("texts-reused", {
      draft: text("Draft {start.topic}"),
      count: 'context["n"] = len(context["draft"])',
      edit: text(prompt),
    });
  const version = await cloud.publish(nodes("Edit {draft}"));
  answers = [{ text: "a draft" }, { text: "edited" }];
  const first = await cloud.run(version, '{"topic":"tea"}');
  const reusing = async (version: WorkflowVersion, context: string) => {
    const outcomes = await planReuse(cloud.ports, first.execution, {
      version,
      fresh: [],
      findLookedUpKeys: async () => "more",
    });
    const { id } = await startExecution(cloud.ports, { version, context, files: [], outcomes });
    await cloud.untilEnd(id);
    return readTrace(cloud.ports, id, { full: true });
  };
  const taken = ({ entries }: Trace) => entries.flatMap(({ node_id, reused_from }) => (reused_from ? [node_id] : []));
  server.requests.length = 0;
  const same = await reusing(version, '{"topic":"tea"}');
  expect([taken(same), server.requests, JSON.parse(same.context.text).edit]).toEqual([["draft", "edit"], [], "edited"]);
  answers = [{ text: "shorter" }];
  const changed = await reusing(await cloud.publish(nodes("Shorten {draft}")), '{"topic":"tea"}');
  expect([taken(changed), server.requests.map(({ input }) => input)]).toEqual([["draft"], ["Shorten a draft"]]);
  answers = [{ text: "a draft" }];
  const other = await reusing(version, '{"topic":"milk"}');
  // The model wrote the same text again for the node `draft`, so the input of the node `edit` was equal and its outcome
  // was reused.
  expect(taken(other)).toEqual(["edit"]);
  expect(await verified(cloud, other)).toBe("anchored");
});

it("a single text node can run on an input with values of other nodes", async () => {
  const context = { __node_mapping: { "My Draft": "n1" }, "id:n1": "1. a draft", "My Draft": "an older one" };
  const inputs = { properties: { __node_mapping: { type: "object" } }, additionalProperties: true };
  const trace = await told({ work: text("Edit {my draft[1]} of {n1}") }, [{ text: "ok" }], JSON.stringify(context), {
    inputs,
  });
  expect(trace.execution.status).toBe("completed");
  expect(server.requests[0]?.input).toBe("Edit a draft of 1. a draft");
  expect(server.requests[0]?.instructions).toContain(`"My Draft":"n1"`);
});

it("a text node gets values of other nodes under the names in its field `input_keys`", async () => {
  const trace = await told(
    {
      a: text("Say"),
      b: { code: 'context["seen"] = context["generated_text"]', input_keys: ["generated_text"] },
      c: 'context["note"] = "from c"',
      d: {
        code: 'context["note"] = "later"; context["got"] = [context["mine"], context["said"]["output"]]',
        input_keys: { mine: "c:note", said: "a" },
      },
      e: text("Use {mine}", { input_keys: { mine: "c:note" } }),
    },
    [{ text: "hello" }, { text: "ok" }],
  );
  expect(JSON.parse(trace.context.text)).toEqual({
    a: "hello",
    seen: "hello",
    note: "later",
    got: ["from c", "hello"],
    e: "ok",
  });
  expect(server.requests.at(-1)?.input).toBe("Use from c");
});

it("a decision that is a text node asks its model again if the model chooses an unknown edge", async () => {
  const definition = {
    id: "text-decision",
    nodes: [
      { id: "start", type: "start" },
      { id: "choose", type: "decision", ...text("Is {start.total} large?") },
      { id: "high", type: "action", code: 'context["way"] = "high"' },
      { id: "low", type: "action", code: 'context["way"] = "low"' },
      { id: "end", type: "end" },
    ],
    edges: [
      { from: "start", to: "choose" },
      { from: "choose", to: "high", condition: true },
      { from: "choose", to: "low", condition: "default" },
      { from: "high", to: "end" },
      { from: "low", to: "end" },
    ],
  };
  answers = [{ json: { branch_decision: "maybe" } }, { json: { branch_decision: "true" } }];
  const trace = await cloud.run(await cloud.publish(definition), '{"total":5}');
  expect(trace.path).toEqual(["start", "choose", "high", "end"]);
  expect(JSON.parse(trace.context.text)).toMatchObject({ choose: true, way: "high" });
  expect(server.requests[0]?.body).toMatchObject({
    text: { format: { strict: true, schema: { properties: { branch_decision: { enum: ["true", "default"] } } } } },
  });
});
