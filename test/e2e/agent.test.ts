import { answerTask, readTrace, restartExecution, Source, startExecution } from "@nova/engine";
import { eraseExecution, makeProof } from "@nova/service";
import { verifyProof } from "@nova/verify";
import { readWorkflowSource } from "@nova/workflow";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { agentFlow, calling, toolNode } from "../support/agent.ts";
import { inARow, openTestCloud, type TestCloud, unoffered, verified } from "../support/cloud.ts";
import {
  type ModelRequest,
  type ModelServer,
  modelServer,
  type Respond,
} from "../support/model-server/model-server.ts";

let models: ModelServer;
let cloud: TestCloud;
let respond: Respond;

beforeAll(async () => {
  models = await modelServer((request) => respond(request));
  Object.assign(process.env, models.environment);
  cloud = await openTestCloud();
});

beforeEach(() => models.requests.splice(0));

afterAll(async () => {
  await cloud.close();
  for (const name of Object.keys(models.environment)) delete process.env[name];
  await models[Symbol.asyncDispose]();
});

/** Sets the answers of the model: request n gets turn n. */
function inTurn(...turns: Awaited<ReturnType<Respond>>[]): void {
  respond = (_request: ModelRequest) => turns[models.requests.length - 1] ?? { text: "too many requests" };
}

const lookUp = toolNode("look_up", 'context["order"] = {"id": context["id"], "total": 850.0}', {
  id: { type: "integer" },
});

it("a request of an agent to its model is an entry of its own, and so is each call of a tool", async () => {
  inTurn({ calls: [calling("look_up", { id: 7 })] }, { text: "The total is 850." });
  const version = await cloud.publish(agentFlow("one-call", [lookUp]));
  const trace = await cloud.run(version, '{"case": "order 7"}');
  expect(trace.execution).toMatchObject({ status: "completed" });
  expect(trace.entries.map(({ node_id, node_type, path_taken }) => [node_id, node_type, path_taken])).toEqual([
    ["start", "start", "resolve"],
    ["resolve", "agent", "resolve.join"],
    ["resolve.join", "join", "resolve"],
    ["resolve", "agent", "end"],
    ["end", "end", null],
    ["(close)", "close", null],
  ]);
  const [, asked] = trace.entries;
  expect(asked?.ai_metadata).toMatchObject({
    tokens_input: 1000,
    tokens_output: 100,
    processed_prompt: "Resolve order 7.",
  });
  expect(asked?.steps[0]?.tool_calls).toEqual([{ function: "look_up", arguments: { id: 7 } }]);
  const [call] = asked?.branches ?? [];
  expect(call?.entries).toMatchObject([{ node_id: "look_up", scope: "/resolve@1.0", seq: 1, path_taken: null }]);
  expect(call?.entries[0]?.input_context?.text).toBe('{"id":7}');
  expect(call?.entries[0]?.changes.set.text).toBe('{"order":{"id":7,"total":850.0}}');
  expect(models.requests.map(({ tools, toolResults }) => [tools, toolResults])).toEqual([
    [["look_up"], []],
    [["look_up"], ['{"order":{"id":7,"total":850.0}}']],
  ]);
  expect(trace.context.text).toBe('{"case":"order 7","resolve":"The total is 850."}');
  expect(trace.execution.spent).toMatchObject({ tokens_input: 2000, tokens_output: 200 });
  expect(await verified(cloud, trace)).toBe("anchored");
});

describe("the calls in one answer of a model", () => {
  it("run in parallel, and the model gets each result or error in the order of the calls", async () => {
    const broken = toolNode("broken", 'raise ValueError("no such order")');
    inTurn(
      { calls: [calling("look_up", { id: 1 }), calling("broken", {}), calling("look_up", { id: 2 })] },
      { text: "done" },
    );
    const trace = await cloud.run(await cloud.publish(agentFlow("parallel", [lookUp, broken])), '{"case": "x"}');
    expect(trace.execution.status).toBe("completed");
    const [first, second, third] = models.requests[1]?.toolResults ?? [];
    expect([first, third]).toEqual(['{"order":{"id":1,"total":850.0}}', '{"order":{"id":2,"total":850.0}}']);
    expect(JSON.parse(second ?? "")).toMatchObject({
      error: { node: "broken", class: "NodeFailed", message: expect.stringContaining("no such order") },
    });
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("do not run if they are invalid, and the model gets the reason", async () => {
    inTurn(
      {
        calls: [
          calling("look_up", { id: "seven" }),
          calling("look_up", "no json"),
          calling("look_up", { id: 1, extra: true }),
          calling("nothing", {}),
          calling("look_up", "[1]"),
        ],
      },
      { text: "done" },
    );
    const trace = await cloud.run(await cloud.publish(agentFlow("misfits", [lookUp])), '{"case": "x"}');
    const results = (models.requests[1]?.toolResults ?? []).map((text) => JSON.parse(text).error as string);
    expect(results).toEqual([
      expect.stringMatching(/^the arguments do not fit: .*integer/),
      expect.stringMatching(/^the arguments are no JSON/),
      expect.stringMatching(/^the arguments do not fit: .*extra/),
      'there is no tool "nothing"; there are: look_up',
      "the arguments are no JSON object",
    ]);
    expect(trace.entries[1]?.branches).toEqual([]);
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("run only while the agent has steps left, even if the model requests 500 calls at once", async () => {
    const many = Array.from({ length: 500 }, (_, id) => calling("look_up", { id }));
    inTurn({ calls: many }, { text: "done" });
    const version = await cloud.publish(agentFlow("500-calls", [lookUp], { max_steps: 3 }));
    const trace = await cloud.run(version, '{"case": "x"}');
    expect(trace.execution.status).toBe("completed");
    expect(trace.entries[1]?.branches).toHaveLength(3);
    expect(models.requests[1]?.mayCall).toBe(false);
    expect(models.requests[1]?.toolResults.slice(2, 4)).toEqual([
      '{"order":{"id":2,"total":850.0}}',
      '{"error":"not run: at most 3 calls may run now"}',
    ]);
    expect(await verified(cloud, trace)).toBe("anchored");
  });
});

describe("an agent fails", () => {
  async function failureOf(id: string, agent: object = {}) {
    const trace = await cloud.run(await cloud.publish(agentFlow(id, [lookUp], agent)), '{"case": "x"}');
    expect(await verified(cloud, trace)).toBe("anchored");
    return trace.execution.error;
  }

  it("if its model repeats a call whose result the model already has", async () => {
    respond = () => ({ calls: [calling("look_up", { id: 7 })] });
    const message = expect.stringMatching(
      /its model repeats the call look_up\(\{"id":7\}\), whose result it has already/,
    );
    expect(await failureOf("repeats")).toMatchObject({ node: "resolve", class: "CallRepeated", message });
    expect(models.requests).toHaveLength(2);
  });

  it("if its model requests more calls after the agent has used its steps", async () => {
    respond = () => ({ calls: [calling("look_up", { id: models.requests.length })] });
    const message = expect.stringMatching(/its model has used its 3 steps, and requests more calls/);
    expect(await failureOf("never-ends", { max_steps: 3 })).toMatchObject({
      node: "resolve",
      class: "StepsUsedUp",
      message,
    });
  });

  it("before a request whose conversation exceeds the context window of its model", async () => {
    const read = toolNode("read", 'context["text"] = "word " * 120_000');
    inTurn({ calls: [calling("read", {})] });
    const agent = { model: "gpt-4o-2024-08-06", max_chars: 1_000_000 };
    const trace = await cloud.run(await cloud.publish(agentFlow("long-talk", [read], agent)), '{"case": "x"}');
    const message = expect.stringMatching(
      /the prompt and the conversation have about 1\d{5} tokens.*takes 128000 in all/,
    );
    expect(trace.execution.error).toMatchObject({ node: "resolve", class: "NodeFailed", message });
    expect(models.requests).toHaveLength(1);
  });

  it("if two answers in a row are empty", async () => {
    respond = () => ({ text: "" });
    const message = expect.stringMatching(/the answer of its model does not fit: it is empty/);
    expect(await failureOf("empty")).toMatchObject({ node: "resolve", message });
    expect(models.requests).toHaveLength(2);
  });

  it("if two answers in a row do not fit output_schema", async () => {
    respond = () => ({ json: { paid: "perhaps" } });
    const output_schema = { type: "object", properties: { paid: { type: "boolean" } }, required: ["paid"] };
    const message = expect.stringMatching(/the answer of its model does not fit: .*boolean/);
    expect(await failureOf("unfit", { output_schema })).toMatchObject({ node: "resolve", message });
  });
});

it("an agent answers again after an answer that does not fit output_schema", async () => {
  inTurn({ json: { paid: "perhaps" } }, { calls: [calling("look_up", { id: 7 })] }, { json: { paid: true } });
  const output_schema = { type: "object", properties: { paid: { type: "boolean" } }, required: ["paid"] };
  const version = await cloud.publish(agentFlow("second-answer", [lookUp], { output_schema, into: "outcome" }));
  const trace = await cloud.run(version, '{"case": "x"}');
  expect(JSON.parse(trace.context.text)).toEqual({ case: "x", outcome: { paid: true } });
  expect(JSON.stringify(models.requests[1]?.body)).toContain("Your answer does not fit");
  expect(await verified(cloud, trace)).toBe("anchored");
});

it("a tool with an approval runs only if a person approves the call, and the run waits for the answer", async () => {
  const refund = toolNode(
    "refund",
    'context["paid"] = context["amount"]',
    { amount: { type: "number" } },
    {
      effects: true,
      approve: { message: "Refund {{amount}}?" },
    },
  );
  const version = await cloud.publish(agentFlow("approve-first", [refund]));
  const results: string[] = [];
  for (const choice of ["approved", "rejected"]) {
    models.requests.splice(0);
    inTurn({ calls: [calling("refund", { amount: 12.5 })] }, { text: "done" });
    const { id: execution } = await startExecution(cloud.ports, { version, context: '{"case": "x"}' });
    const scope = "/resolve@1.0";
    await expect
      .poll(async () => (await cloud.ports.chain.read({ execution, scope, seq: 1 })).turn?.state)
      .toBe("held");
    await expect
      .poll(() =>
        answerTask(cloud.ports, { execution, node: "refund_approval", choice, by: "ann", from: "a test" }).catch(
          () => null,
        ),
      )
      .not.toBeNull();
    await cloud.untilEnd(execution);
    const trace = await readTrace(cloud.ports, execution, { full: true });
    expect(trace.execution.status).toBe("completed");
    results.push(models.requests[1]?.toolResults[0] ?? "");
    expect(await verified(cloud, trace)).toBe("anchored");
  }
  expect(JSON.parse(results[0] ?? "")).toMatchObject({ refund_approval: { choice: "approved" }, paid: 12.5 });
  expect(JSON.parse(results[1] ?? "")).toMatchObject({ refund_approval: { choice: "rejected" } });
  expect(results[1]).not.toContain("paid");
});

it("a run occupies no sandbox while a tool call of the run's agent waits for an approval", async () => {
  const approve = { message: "Refund?" };
  const refund = toolNode("refund", 'context["paid"] = True', {}, { effects: true, approve });
  const flow = agentFlow("waits-alone", [lookUp, refund]) as { nodes: object[]; edges: object[] };
  const first = { id: "first", type: "action", code: 'context["first"] = 1' };
  const version = await cloud.publish({
    ...flow,
    nodes: [...flow.nodes, first, { id: "last", type: "action", code: 'context["last"] = 1' }],
    edges: [
      { from: "start", to: "first" },
      { from: "first", to: "resolve" },
      { from: "resolve", to: "last" },
      { from: "last", to: "end" },
    ],
  });
  inTurn({ calls: [calling("look_up", { id: 7 }), calling("refund", {})] }, { text: "done" });
  const { id: execution } = await startExecution(cloud.ports, { version, context: '{"case": "x"}' });
  const callEntry = async () => (await cloud.ports.chain.read({ execution, scope: "/resolve@2.0", seq: 1 })).entry;
  await expect.poll(callEntry, { timeout: 20_000 }).toBeDefined();
  await expect.poll(async () => (await cloud.ports.tasks.ofExecution(execution)).length).toBe(1);
  await expect.poll(() => unoffered(cloud)).toEqual([]);
  await answerTask(cloud.ports, { execution, node: "refund_approval", choice: "approved", by: "ann", from: "a test" });
  await cloud.untilEnd(execution);
  const trace = await readTrace(cloud.ports, execution, { full: true });
  expect(JSON.parse(trace.context.text)).toMatchObject({ first: 1, resolve: "done", last: 1 });
  expect(await verified(cloud, trace)).toBe("anchored");
});

it("a published workflow can be a tool, to which the workflow gives its description and inputs", async () => {
  await cloud.publish({
    ...inARow("sums", { add: 'context["sum"] = context["a"] + context["b"]' }),
    description: "Adds two numbers.",
    inputs: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  });
  inTurn({ calls: [calling("sums", { a: 1 }), calling("sums", { a: 1, b: 2 })] }, { text: "3" });
  const version = await cloud.publish(agentFlow("calls-sums", [], { tools: [{ workflow: "sums" }] }));
  const trace = await cloud.run(version, '{"case": "x"}');
  expect(JSON.stringify(models.requests[0]?.body)).toContain("Adds two numbers.");
  const [misfit = "", sum = ""] = models.requests[1]?.toolResults ?? [];
  expect(misfit).toContain("the arguments do not fit");
  expect(JSON.parse(sum)).toEqual({ sums: { a: 1, b: 2, sum: 3 } });
  expect(await verified(cloud, trace)).toBe("anchored");
});

it("an agent in the body of a map works on each item", async () => {
  respond = ({ toolResults, input }) =>
    toolResults.length === 0
      ? { calls: [calling("look_up", { id: Number(/\d+/.exec(input)?.[0]) })] }
      : { text: toolResults[0] ?? "" };
  const agent = { id: "resolve", type: "action", executor: "agent", prompt: "Resolve {item}.", tools: ["look_up"] };
  const version = await cloud.publish({
    id: "agents-in-map",
    nodes: [
      { id: "start", type: "start" },
      { id: "each", type: "map", items: "cases", nodes: [agent, lookUp], edges: [] },
      { id: "end", type: "end" },
    ],
    edges: [
      { from: "start", to: "each" },
      { from: "each", to: "end" },
    ],
  });
  const trace = await cloud.run(version, '{"cases": [1, 2, 3]}');
  const results = JSON.parse(trace.context.text).results as { resolve: string }[];
  expect(results.map(({ resolve }) => JSON.parse(resolve).order.id)).toEqual([1, 2, 3]);
  expect(await verified(cloud, trace)).toBe("anchored");
});

it("an agent with many calls continues in further executions", async () => {
  respond = ({ toolResults }) =>
    toolResults.length < 7 ? { calls: [calling("look_up", { id: toolResults.length })] } : { text: "done" };
  const version = await cloud.publish(agentFlow("long-agent", [lookUp]), { historyEvents: 40 });
  const trace = await cloud.run(version, '{"case": "x"}');
  expect(trace.execution.status).toBe("completed");
  expect(trace.entries.filter(({ node_id }) => node_id === "resolve")).toHaveLength(8);
  const heads = Array.from((await Source.read(cloud.ports, trace.execution.id)).entries.values(), ({ head }) => head);
  expect(Math.max(...heads.map(({ continuation }) => continuation?.number ?? 0))).toBeGreaterThan(1);
  expect(await verified(cloud, trace)).toBe("anchored");
});

it("each entry of an agent stores only the new part of the conversation", async () => {
  const calls = 12;
  respond = ({ toolResults }) =>
    toolResults.length < calls ? { calls: [calling("look_up", { id: 10 + toolResults.length })] } : { text: "done" };
  const trace = await cloud.run(await cloud.publish(agentFlow("linear", [lookUp])), '{"case": "x"}');
  expect(models.requests.at(-1)?.toolResults).toHaveLength(calls);
  const bytes: number[] = [];
  for (const { seq } of trace.entries) {
    const { talk } =
      (await cloud.ports.chain.read({ execution: trace.execution.id, scope: "", seq })).entry?.contents ?? {};
    if (talk) bytes.push("text" in talk ? talk.text.length : talk.blob.bytes);
  }
  expect(bytes).toHaveLength(calls);
  expect(bytes.at(-1)).toBeLessThan((bytes[1] ?? 0) + 10);
});

it("a restart in the middle of an agent reuses earlier replies and calls, and asks the model only for the rest", async () => {
  respond = ({ toolResults }) =>
    toolResults.length < 8 ? { calls: [calling("look_up", { id: toolResults.length })] } : { text: "done" };
  const version = await cloud.publish(agentFlow("restarted", [lookUp]));
  const first = await cloud.run(version, '{"case": "x"}');
  expect(first.execution.status).toBe("completed");
  models.requests.splice(0);
  const request = { source: first.execution, version, by: "user:test", from: ["resolve#7[0].look_up"] };
  const { execution } = await restartExecution(cloud.ports, request);
  const { id } = execution;
  await cloud.untilEnd(id);
  const second = await readTrace(cloud.ports, id, { full: true });
  expect(second.execution.status).toBe("completed");
  expect(models.requests.map(({ toolResults }) => toolResults.length)).toEqual([7, 8]);
  const visits = second.entries.filter(({ node_id }) => node_id === "resolve");
  expect(visits.findIndex(({ reused_from }) => reused_from === null)).toBe(7);
  expect(visits[5]?.branches?.[0]?.entries[0]?.reused_from).not.toBeNull();
  expect(visits[6]?.branches?.[0]?.entries[0]?.reused_from).toBeNull();
  expect(await verified(cloud, second)).toBe("anchored");
});

it("a sealed run reuses the model's replies and the results of tools with effects, but runs tools without effects", async () => {
  const look = { ...lookUp, effects: false };
  const pay = toolNode("pay", 'context["paid"] = 1', {}, { effects: true });
  inTurn({ calls: [calling("look_up", { id: 7 }), calling("pay", {})] }, { text: "done" });
  const version = await cloud.publish(agentFlow("recorded", [look, pay]));
  const first = await cloud.run(version, '{"case": "x"}');
  expect(first.execution.status).toBe("completed");
  models.requests.splice(0);
  const { reply } = first.entries[1] ?? {};
  expect(reply).toMatchObject({ text: "", calls: [{ name: "look_up", arguments: '{"id":7}' }, { name: "pay" }] });
  const document = JSON.stringify({
    resolve: { reply },
    "resolve[1].pay": { set: { paid: 2 } },
    "resolve#2": { set: { resolve: "as recorded" } },
  });
  const { id } = await startExecution(cloud.ports, {
    version,
    context: '{"case": "x"}',
    outcomes: { document, sealed: true },
  });
  await cloud.untilEnd(id);
  const second = await readTrace(cloud.ports, id, { full: true });
  expect(second.execution.status).toBe("completed");
  expect(models.requests).toEqual([]);
  const [looked, paid] = second.entries[1]?.branches ?? [];
  expect(looked?.entries[0]).toMatchObject({ sandbox_id: expect.any(String), reused_from: null });
  expect(paid?.entries[0]).toMatchObject({ sandbox_id: null, changes: { set: { text: '{"paid":2}' } } });
  expect(second.context.text).toBe('{"case":"x","resolve":"as recorded"}');
  expect(await verified(cloud, second)).toBe("anchored");
});

it("the example `refunds` pays the refund that a person approves", async () => {
  inTurn(
    { calls: [calling("look_up_order", { number: "8" }), calling("look_up_order", { number: "7" })] },
    { calls: [calling("refund", { number: "7", amount: 12.5 })] },
    { json: { answer: "You get 12.50 back.", refunded: 12.5 } },
  );
  const version = await cloud.publish(await readWorkflowSource("packages/examples/refunds"));
  const context = '{"mail": "Order 7 came broken.", "orders": {"7": {"total": 12.5}}}';
  const { id: execution } = await startExecution(cloud.ports, { version, context });
  const approve = { execution, node: "refund_approval", choice: "approved", by: "ann", from: "a test" };
  await expect.poll(() => answerTask(cloud.ports, approve).catch(() => null), { timeout: 20_000 }).not.toBeNull();
  await cloud.untilEnd(execution);
  const trace = await readTrace(cloud.ports, execution, { full: true });
  expect(JSON.parse(trace.context.text).resolve).toEqual({ answer: "You get 12.50 back.", refunded: 12.5 });
  const [missing, found, paid] = models.requests.at(-1)?.toolResults ?? [];
  expect(missing).toContain("there is no order 8");
  expect(found).toBe('{"order":{"total":12.5}}');
  expect(JSON.parse(paid ?? "")).toMatchObject({ payment: { amount: 12.5, key: expect.stringContaining(execution) } });
  expect(await verified(cloud, trace)).toBe("anchored");
});

it("an outsider can verify the proof of a run with an agent, even after an erasure", async () => {
  inTurn({ calls: [calling("look_up", { id: 7 })] }, { text: "done" });
  const version = await cloud.publish(agentFlow("proved", [lookUp]));
  const { execution } = await cloud.run(version, '{"case": "a secret matter"}');
  const admin = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;
  const prove = async () => {
    const made = await makeProof(cloud.service, admin, execution.id, "all");
    const text = "text" in made ? made.text : "";
    return { text, verdict: await verifyProof(text) };
  };
  const { text, verdict } = await prove();
  expect(verdict).toMatchObject({ state: "valid", execution: execution.id });
  expect(text).toContain("a secret matter");
  expect((await verifyProof(text.replace("a secret matter", "a public matter"))).state).not.toBe("valid");
  await eraseExecution(cloud.service, execution);
  const erased = await prove();
  expect(erased.verdict).toMatchObject({ state: "valid", execution: execution.id });
  expect(erased.text).not.toContain("a secret matter");
});
