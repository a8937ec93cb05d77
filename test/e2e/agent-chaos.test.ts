// @module-tag deep
import { afterAll, beforeAll, expect, it } from "vitest";
import { agentFlow, calling, compiledFlow, toolNode } from "../support/agent.ts";
import { openChaoticCloud, type TestCloud, verified } from "../support/cloud.ts";
import { type CountingServer, countingServer } from "../support/counting-server.ts";
import { type ModelServer, modelServer } from "../support/model-server/model-server.ts";

let cloud: TestCloud;
let server: ModelServer;
let outside: CountingServer;

const rounds = 4;

beforeAll(async () => {
  // Each round requests two calls. The arguments follow from the number of results, as a repeated request must.
  server = await modelServer(({ toolResults: { length } }) =>
    length < 2 * rounds
      ? { calls: [calling("pay", { amount: length }), calling("pay", { amount: length + 1 })] }
      : { text: "paid" },
  );
  Object.assign(process.env, server.environment);
  [cloud, outside] = await Promise.all([openChaoticCloud(11), countingServer()]);
});
afterAll(async () => {
  await cloud.close();
  for (const name of Object.keys(server.environment)) delete process.env[name];
  await Promise.all([server[Symbol.asyncDispose](), outside[Symbol.asyncDispose]()]);
});

const compiled = `for amount in range(${2 * rounds}):
    tools.pay(amount=amount)
if context["case"] == "fails":
    raise ValueError("the agent has to answer")
context["resolve"] = "paid"`;

const flows = {
  "an agent": (id: string, tool: object) => agentFlow(id, [tool]),
  "a compiled agent": (id: string, tool: object) => compiledFlow(id, [tool], compiled),
};

it.each([
  ["an agent", 1, "x"],
  ["an agent", 2, "x"],
  ["an agent", 3, "x"],
  ["an agent", 4, "x"],
  ["a compiled agent", 5, "x"],
  ["a compiled agent", 6, "x"],
  ["a compiled agent", 7, "fails"],
  ["a compiled agent", 8, "fails"],
] as const)(
  "%s starts each call of a tool with effects exactly once, even if Lambdas die (run %i of the case %s)",
  async (kind, n, story) => {
    const code = `import os, urllib.request
urllib.request.urlopen(f"${outside.url}/{os.environ['NOVA_IDEMPOTENCY_KEY']}")
context["paid"] = context["amount"]`;
    const network = { allow: [new URL(outside.url).host] };
    const pay = toolNode("pay", code, { amount: { type: "integer" } }, { effects: true, network });
    const trace = await cloud.run(
      await cloud.publish(flows[kind](`agent-chaos-${n}`, pay)),
      JSON.stringify({ case: story }),
    );
    expect(trace.execution).toMatchObject({ status: "completed" });
    const calls = trace.entries.flatMap(({ branches = [] }) => branches.flatMap(({ entries }) => entries));
    expect(calls).toHaveLength(2 * rounds);
    expect(calls.map(({ status }) => status)).toEqual(calls.map(() => "success"));
    const own = Object.entries(outside.counts()).filter(([key]) => key.includes(trace.execution.id));
    expect(own.map(([, count]) => count)).toEqual(calls.map(() => 1));
    expect(await verified(cloud, trace)).toBe("anchored");
  },
  120_000,
);
