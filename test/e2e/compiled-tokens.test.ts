// @module-tag deep
import { readFileSync } from "node:fs";
import { encode } from "gpt-tokenizer";
import { afterAll, beforeAll, expect, it } from "vitest";
import { agentFlow, calling, compiledFlow, toolNode } from "../support/agent.ts";
import { openTestCloud, type TestCloud } from "../support/cloud.ts";
import { type ModelRequest, type ModelServer, modelServer } from "../support/model-server/model-server.ts";

let models: ModelServer;
let cloud: TestCloud;

/** The model of a shop. It looks up the order, pays, and answers; without a number in the mail, it asks for one. */
function reply({ input, toolResults: { length } }: ModelRequest) {
  const number = /Order (\d+)/.exec(input)?.[1];
  if (number === undefined) return { json: { answer: "Which order is it?", refunded: 0 } };
  if (length === 0) return { calls: [calling("look_up_order", { number })] };
  if (length === 1) return { calls: [calling("refund", { number, amount: 12.5 })] };
  return { json: { answer: "You get 12.5 back.", refunded: 12.5 } };
}

beforeAll(async () => {
  models = await modelServer((request) => {
    const said = reply(request);
    const usage = { input: encode(JSON.stringify(request.body)).length, output: encode(JSON.stringify(said)).length };
    return { ...said, usage };
  });
  Object.assign(process.env, models.environment);
  cloud = await openTestCloud();
});
afterAll(async () => {
  await cloud.close();
  for (const name of Object.keys(models.environment)) delete process.env[name];
  await models[Symbol.asyncDispose]();
});

const text = { type: "string" };
const tools = [
  toolNode("look_up_order", 'context["order"] = {"total": 12.5}', { number: text }, { effects: false }),
  toolNode(
    "refund",
    'context["payment"] = {"amount": context["amount"]}',
    { number: text, amount: { type: "number" } },
    { effects: true },
  ),
];
const agent = {
  system: "You answer complaints of a shop. Look up the order before you promise anything. Refund at most its total.",
  prompt: "{start.mail}",
  output_schema: {
    type: "object",
    properties: { answer: text, refunded: { type: "number" } },
    required: ["answer", "refunded"],
    additionalProperties: false,
  },
};
const code = `import re
number = re.search("Order ([0-9]+)", context["mail"])[1]
total = tools.look_up_order(number=number)["order"]["total"]
paid = tools.refund(number=number, amount=total)["payment"]["amount"]
context["resolve"] = {"answer": f"You get {paid} back.", "refunded": paid}`;

const runs = 20;

/** Returns the tokens of 20 mails, the last of which names no order. */
async function tokensOf(flow: object): Promise<number> {
  const version = await cloud.publish(flow);
  let tokens = 0;
  for (let run = 1; run <= runs; run++) {
    const mail = run < runs ? `Order ${1000 + run} came broken.` : "My parcel never came.";
    const { execution } = await cloud.run(version, JSON.stringify({ mail }));
    expect(execution.status).toBe("completed");
    tokens += (execution.spent?.tokens_input ?? 0) + (execution.spent?.tokens_output ?? 0);
  }
  return tokens;
}

it("docs/agent-nodes.md states how many tokens 1,000 runs use with an agent and with its compiled code", {
  timeout: 300_000,
}, async () => {
  const page = readFileSync("docs/agent-nodes.md", "utf8");
  const row = (name: string) => new RegExp(`^\\| ${name} \\| ([\\d,]+) \\|$`, "m").exec(page)?.[1];
  const of1000 = async (flow: object) => ((await tokensOf(flow)) * (1000 / runs)).toLocaleString("en-US");
  const withAgent = await of1000(agentFlow("tokens-agent", tools, agent));
  const withCode = await of1000(compiledFlow("tokens-code", tools, code, agent));
  expect([row("the agent"), row("the code, and the agent where the code fails")]).toEqual([withAgent, withCode]);
});
