// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentFlow, calling, compiledFlow, toolNode } from "../../support/agent.ts";
import { type ModelServer, modelServer } from "../../support/model-server/model-server.ts";
import { newFolder, nova, startNova } from "../support/nova.ts";

let cwd: string;
let models: ModelServer;

const lookUp = toolNode(
  "look_up",
  'context["order"] = {"id": context["id"], "total": context["id"] * 10, "note": "large " * 1000}',
  { id: { type: "integer" } },
  { effects: false },
);

const right = `import re
found = re.search("[0-9]+", context["case"])
order = tools.look_up(id=int(found[0]))["order"]
if order["note"].startswith("large"):
    context["resolve"] = f"The total is {order['total']}."`;
const wrong = 'tools.look_up(id=1)\ncontext["resolve"] = "The total is 10."';

beforeAll(async () => {
  cwd = await newFolder();
  await mkdir(join(cwd, "orders"));
  models = await modelServer(({ input, toolResults }) => {
    if (input.includes("# Examples")) return { json: { code: input.includes("# Earlier code") ? right : wrong } };
    const id = Number(/order (\d+)/.exec(input)?.[1]);
    return toolResults.length === 0 ? { calls: [calling("look_up", { id })] } : { text: `The total is ${id * 10}.` };
  });
  Object.assign(process.env, models.environment);
});
afterAll(async () => {
  for (const name of Object.keys(models.environment)) delete process.env[name];
  await models[Symbol.asyncDispose]();
  await rm(cwd, { recursive: true });
});

async function said(...args: string[]) {
  const { code, stdout, stderr } = await nova(cwd, ...args, "--json");
  if (stdout === "") throw new Error(stderr);
  return { exit: code, ...JSON.parse(stdout) };
}

const define = (flow: object) => writeFile(join(cwd, "orders/workflow.json"), JSON.stringify(flow));
const run = (story: string) => said("run", "orders", "--set", `case=${JSON.stringify(story)}`);

it("nova agent compile writes code that answers as the agent did, and the code needs no tokens", {
  timeout: 300_000,
}, async () => {
  await define(agentFlow("orders", [lookUp]));
  const first = await run("order 1");
  const second = await run("order 2");
  expect(second.context).toMatchObject({ resolve: "The total is 20." });
  const made = await said("agent", "compile", "resolve", "--folder", "orders");
  expect(made).toMatchObject({
    exit: 0,
    node: "resolve",
    same: 2,
    differs: 0,
    fails: 0,
    tokens_before: 4400,
    tokens_after: 0,
    runs: [
      { execution_id: second.execution_id, calls: 1, outcome: "same", why: null, tokens_before: 2200 },
      { execution_id: first.execution_id, calls: 1, outcome: "same", why: null, tokens_before: 2200 },
    ],
    // The first code was wrong, so the model was asked twice.
    written: { tokens: 2200 },
  });
  const repair = models.requests.at(-1)?.input ?? "";
  expect(repair).toContain('it calls look_up({\\"id\\": 1}), which is not on record for this input');
  const code = await readFile(join(cwd, "orders/resolve_code.py"), "utf8");
  expect(code).toBe(`${right}\n`);

  models.requests.splice(0);
  await define(compiledFlow("orders", [lookUp], code));
  expect(await run("order 3")).toMatchObject({ exit: 0, context: { resolve: "The total is 30." } });
  expect(models.requests).toEqual([]);
  expect(await run("no number")).toMatchObject({ exit: 0 });
  expect(models.requests).toHaveLength(2);
});

it("nova agent compile prints the node to add, and each node that must name the new node", {
  timeout: 120_000,
}, async () => {
  const flow = agentFlow("orders", [lookUp], { onError: "apologise" }) as { nodes: object[]; edges: object[] };
  const others = [
    { id: "check", type: "action", code: 'context["checked"] = True', onError: "resolve" },
    {
      id: "last",
      type: "action",
      code: 'context["found"] = context["answer"]',
      input_keys: { answer: "resolve:output" },
    },
    { id: "apologise", type: "action", code: 'context["sorry"] = True' },
  ];
  const edges = [
    { from: "start", to: "check" },
    { from: "check", to: "resolve" },
    { from: "resolve", to: "last" },
    { from: "last", to: "end" },
    { from: "apologise", to: "end" },
  ];
  await define({ ...flow, nodes: [...flow.nodes, ...others], edges });
  await run("order 4");
  const { stdout } = await nova(cwd, "agent", "compile", "resolve", "--folder", "orders", "--runs", "1");
  expect(stdout).toContain(
    'then add this node, and name it in place of "resolve" in the edges of "resolve", the onError of "check" and the input_keys of "last":',
  );
  expect(stdout).toContain('"fallback":"resolve","onError":"apologise"}');
  expect(stdout).toContain('Remove the onError of "resolve"');
});

describe("nova agent compile --write", { timeout: 300_000 }, () => {
  const added = '{ "id": "resolve_code", "type": "action", "codeFile": "resolve_code.py", "fallback": "resolve" }';

  it("adds the node to the workflow, and the next run uses the code, both in the data folder of nova dev and with NOVA_URL", {
    tags: ["deep"],
  }, async () => {
    const { child, line, ended } = startNova(cwd, "dev", "orders", "--port", "0", "--json");
    const { url, api_key } = JSON.parse(await line('{"url"'));
    const server = { NOVA_URL: url, NOVA_API_KEY: api_key };
    for (const own of [{}, server]) {
      const text = JSON.stringify(agentFlow("orders", [lookUp])).replace('"nodes":[', '"nodes": [\n  ');
      await writeFile(join(cwd, "orders/workflow.json"), text);
      Object.assign(process.env, own);
      await run("order 4");
      const made = await said("agent", "compile", "resolve", "--folder", "orders", "--runs", "1", "--write");
      expect(made).toMatchObject({ exit: 0, same: 1, placed: { file: "orders/workflow.json" } });
      const written = await readFile(join(cwd, "orders/workflow.json"), "utf8");
      expect(written).toContain(`,${added},`);
      expect(JSON.parse(written).edges).toEqual([
        { from: "start", to: "resolve_code" },
        { from: "resolve_code", to: "end" },
      ]);
      models.requests.splice(0);
      expect(await run("order 5")).toMatchObject({ exit: 0, context: { resolve: "The total is 50." } });
      expect(models.requests).toEqual([]);
      for (const name of Object.keys(own)) delete process.env[name];
    }
    child.kill("SIGINT");
    await ended;
  });

  /** Compiles the agent of a workflow in which the node `last` follows the agent. */
  async function compileBefore(last: object) {
    const flow = agentFlow("orders", [lookUp]) as { nodes: object[]; edges: object[] };
    const [first] = flow.edges;
    const edges = [first, { from: "resolve", to: "last" }, { from: "last", to: "end" }];
    await define({ ...flow, nodes: [...flow.nodes, { id: "last", type: "action", ...last }], edges });
    await run("order 4");
    const made = await said("agent", "compile", "resolve", "--folder", "orders", "--runs", "1", "--write");
    return { made, edges: JSON.parse(await readFile(join(cwd, "orders/workflow.json"), "utf8")).edges, before: edges };
  }

  it("lets a later node read the answer of the written code through input_keys", { tags: ["deep"] }, async () => {
    const code = 'context["found"] = context["answer"]';
    const { made } = await compileBefore({ code, input_keys: { answer: "resolve:output" } });
    expect(made).toMatchObject({ exit: 0, placed: { file: "orders/workflow.json" } });
    expect(await run("order 5")).toMatchObject({ exit: 0, context: { found: "The total is 50." } });
  });

  const named =
    'the node "last" may read the result of "resolve" by its id - add the node by hand, and name "resolve_code" there';

  it.each([
    [
      "a prompt may name the agent",
      { executor: "text", prompt: "Repeat { Resolve.output } for order 1", into: "found" },
      named,
    ],
    ["code may name the agent in outputs", { code: 'context["found"] = outputs.get("resolve", "output")' }, named],
    [
      "the changed workflow would not compile",
      { code: "context[" },
      expect.stringMatching(/^it would not compile: NOVA601 node "last"/),
    ],
  ])("does not change the workflow if %s", async (_, last, problem) => {
    const { made, edges, before } = await compileBefore(last);
    expect(made).toMatchObject({ exit: 0, same: 1, placed: { problem } });
    expect(edges).toEqual(before);
  });

  it("asks no model if the workflow already has a node of the same name", async () => {
    const flow = agentFlow("orders", [lookUp]) as { nodes: object[] };
    const nodes = [...flow.nodes, { id: "resolve_code", type: "action", code: "pass" }];
    const path = ["start", "resolve", "resolve_code", "end"];
    await define({ ...flow, nodes, edges: path.slice(1).map((to, index) => ({ from: path[index], to })) });
    models.requests.splice(0);
    const { code, stderr } = await nova(cwd, "agent", "compile", "resolve", "--folder", "orders", "--write");
    expect([code, stderr]).toEqual([2, expect.stringContaining('has a node "resolve_code" already')]);
    expect(models.requests).toEqual([]);
  });
});

it("nova agent compile lists the agents of the workflow if the named node is no agent", async () => {
  await define(agentFlow("orders", [lookUp]));
  const { code, stderr } = await nova(cwd, "agent", "compile", "look_up", "--folder", "orders");
  expect(code).toBe(2);
  expect(stderr).toContain('"look_up" is no agent of "orders" whose model is asked - such agents: resolve');
});
