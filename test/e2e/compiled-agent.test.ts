// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { readTrace, startExecution } from "@nova/engine";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { calling, compiledFlow, toolNode } from "../support/agent.ts";
import { openTestCloud, type TestCloud, verified } from "../support/cloud.ts";
import { type ModelServer, modelServer, type Respond } from "../support/model-server/model-server.ts";

let models: ModelServer;
let cloud: TestCloud;
let respond: Respond;

beforeAll(async () => {
  models = await modelServer((request) => respond(request));
  Object.assign(process.env, models.environment);
  cloud = await openTestCloud();
});

beforeEach(() => {
  models.requests.splice(0);
  respond = () => ({ text: "asked after all" });
});

afterAll(async () => {
  await cloud.close();
  for (const name of Object.keys(models.environment)) delete process.env[name];
  await models[Symbol.asyncDispose]();
});

const lookUp = toolNode(
  "look_up",
  `if context["id"] == 404:
    raise ValueError("no such order")
context["order"] = {"id": context["id"], "total": 850.0}`,
  { id: { type: "integer" } },
);
const pay = toolNode(
  "pay",
  'import os\ncontext["paid"] = {"amount": context["amount"], "key": os.environ["NOVA_IDEMPOTENCY_KEY"]}',
  { amount: { type: "number" } },
  { effects: true },
);

const tools = [lookUp, pay];
const code = `order = tools.look_up(id=context["id"])["order"]
paid = tools.pay(amount=order["total"])["paid"]
context["resolve"] = f"paid {paid['amount']}"`;

async function run(id: string, written: string, context: object, agent: object = {}) {
  const version = await cloud.publish(compiledFlow(id, tools, written, agent));
  return cloud.run(version, JSON.stringify(context));
}

it("compiled code calls the tools of its agent without a model, and each call is an entry of its own", async () => {
  const trace = await run("compiled", code, { case: "x", id: 7 });
  expect(trace.execution).toMatchObject({ status: "completed" });
  expect(trace.entries.map(({ node_id, node_type, path_taken }) => [node_id, node_type, path_taken])).toEqual([
    ["start", "start", "resolve_code"],
    ["resolve_code", "agent", "resolve_code.join"],
    ["resolve_code.join", "join", "resolve_code"],
    ["resolve_code", "agent", "resolve_code.join"],
    ["resolve_code.join", "join", "resolve_code"],
    ["resolve_code", "agent", "end"],
    ["end", "end", null],
    ["(close)", "close", null],
  ]);
  const calls = trace.entries.flatMap(({ branches = [] }) => branches.flatMap(({ entries }) => entries));
  expect(calls.map(({ node_id, scope, input_context }) => [node_id, scope, input_context?.text])).toEqual([
    ["look_up", "/resolve_code@1.0", '{"id":7}'],
    ["pay", "/resolve_code@3.0", '{"amount":850.0}'],
  ]);
  expect(calls[1]?.changes.set.text).toContain(`${trace.execution.id}+resolve_code@3.0`);
  expect(trace.entries[1]?.reply).toMatchObject({ calls: [{ name: "look_up", arguments: '{"id": 7}' }] });
  expect(JSON.parse(trace.context.text).resolve).toBe("paid 850.0");
  expect(trace.entries[1]?.code_executed).toBe(code);
  expect(models.requests).toEqual([]);
  expect(await verified(cloud, trace)).toBe("anchored");
});

describe("the agent of compiled code answers with the results of earlier tool calls if the code", () => {
  it.each<[string, string, RegExp]>([
    ["raises an exception", `${code}\nraise KeyError("unknown")`, /KeyError: 'unknown'/],
    ["sets another key", `${code}\ncontext["other"] = 1`, /changes the key "other"/],
    ["gives no answer", code.replace(/context\["resolve"\].*$/, "print(paid)"), /gives no answer/],
    ["gives an answer of another type", code.replace(/f"paid.*$/, "12"), /its answer is no text/],
    [
      "makes another call when it runs again",
      'import time\ntools.look_up(id=time.time_ns())\ncontext["resolve"] = "never"',
      /but look_up\(.*\) is on record/,
    ],
  ])("%s", async (_, written, why) => {
    const trace = await run("falls-back", written, { case: "x", id: 7 });
    expect(trace.execution).toMatchObject({ status: "completed" });
    expect(JSON.parse(trace.context.text).resolve).toBe("asked after all");
    const replies = trace.entries.flatMap(({ reply }) => (reply ? [reply] : []));
    expect(replies.at(-1)).toMatchObject({ code_failed: expect.stringMatching(why) });
    expect(models.requests).toHaveLength(1);
    const results = models.requests[0]?.toolResults ?? [];
    expect(results).toHaveLength(replies.length - 1);
    expect(results[0]).toContain('"total":850.0');
    expect(await verified(cloud, trace)).toBe("anchored");
  });
});

it("an agent can call its tools after its compiled code has failed", async () => {
  respond = ({ toolResults: { length } }) =>
    length === 1 ? { calls: [calling("pay", { amount: 1 })] } : { text: `after ${length}` };
  const trace = await run("goes-on", `tools.look_up(id=context["id"])\nraise ValueError()`, { case: "x", id: 7 });
  expect(JSON.parse(trace.context.text).resolve).toBe("after 2");
  expect(await verified(cloud, trace)).toBe("anchored");
});

it("a failed tool call raises ToolError in compiled code, and the code may handle the error", async () => {
  const written = `try:
    tools.look_up(id=404)
except tools.ToolError as error:
    message = str(error)
try:
    tools.look_up(id="seven")
except tools.ToolError as error:
    context["resolve"] = f"{message}; {error}"`;
  const trace = await run("tool-error", written, { case: "x" });
  expect(JSON.parse(trace.context.text).resolve).toMatch(/no such order.*; the arguments do not fit: .*integer/);
  expect(models.requests).toEqual([]);
  expect(await verified(cloud, trace)).toBe("anchored");
});

it("an agent answers itself if its compiled code has used all steps", async () => {
  const written = 'for id in range(9):\n    tools.look_up(id=id)\ncontext["resolve"] = "never"';
  const trace = await run("many-steps", written, { case: "x" }, { max_steps: 3 });
  expect(JSON.parse(trace.context.text).resolve).toBe("asked after all");
  expect(models.requests[0]?.toolResults).toHaveLength(3);
});

it("compiled code runs if models are off, but after a failure of the code its agent does not answer", async () => {
  const flow = { ...compiledFlow("no-models", tools, code), models: false };
  const version = await cloud.publish(flow);
  const good = await cloud.run(version, '{"case": "x", "id": 7}');
  expect(good.execution.status).toBe("completed");
  const bad = await cloud.run(version, '{"case": "x"}');
  expect(bad.execution.status).toBe("failed");
  expect(bad.execution.error?.message).toContain('"models": false of its workflow forbids that');
  expect(models.requests).toEqual([]);
});

it("compiled code runs in a frozen run, and its agent answers if the code fails", async () => {
  const version = await cloud.publish(compiledFlow("frozen", tools, code));
  const resolved: unknown[] = [];
  for (const context of ['{"case": "x", "id": 7}', '{"case": "x"}']) {
    const { id } = await startExecution(cloud.ports, { version, context, frozen: true });
    await cloud.untilEnd(id);
    const trace = await readTrace(cloud.ports, id, { full: true });
    expect(await verified(cloud, trace)).toBe("anchored");
    resolved.push(JSON.parse(trace.context.text).resolve);
  }
  expect(resolved).toEqual(["paid 850.0", "asked after all"]);
  expect(models.requests).toHaveLength(1);
});

it("compiled code can read no secret inputs in the context and in the outputs of nodes", async () => {
  const written = `seen = [context.get("token"), outputs["start"].get("token"), "very" in str(outputs.get_all_data())]
context["resolve"] = f"{seen}"`;
  const flow = {
    ...compiledFlow("closed", tools, written),
    inputs: { type: "object", properties: { token: { type: "string", secret: true } } },
  };
  const trace = await cloud.run(await cloud.publish(flow), '{"case": "x", "token": "very secret"}');
  expect(JSON.parse(trace.context.text).resolve).toBe("[None, None, False]");
});

it("compiled code may give an answer that is already a value of the context", async () => {
  const trace = await run("same-answer", code, { case: "x", id: 7, resolve: "paid 850.0" });
  expect(trace.execution.status).toBe("completed");
  expect(models.requests).toEqual([]);
});

it("a call of compiled code with too large arguments does not run, and the agent continues", async () => {
  const trace = await run("large-call", 'tools.look_up(id=7, note="x" * 300_000)', { case: "x" });
  const [reply] = trace.entries.flatMap((entry) => (entry.reply ? [entry.reply] : []));
  expect(reply).toMatchObject({ calls: [], code_failed: expect.stringContaining("more than 200000 characters") });
  expect(JSON.parse(trace.context.text).resolve).toBe("asked after all");
});

it("a sealed run runs compiled code again, and reuses the recorded outcomes of tools with effects", async () => {
  const version = await cloud.publish(compiledFlow("sealed", [{ ...lookUp, effects: false }, pay], code));
  const { id } = await startExecution(cloud.ports, {
    version,
    context: '{"case": "x", "id": 7}',
    outcomes: { document: '{"resolve_code#2[0].pay": {"set": {"paid": {"amount": 2}}}}', sealed: true },
  });
  await cloud.untilEnd(id);
  const trace = await readTrace(cloud.ports, id, { full: true });
  expect(JSON.parse(trace.context.text).resolve).toBe("paid 2");
  expect(models.requests).toEqual([]);
});
