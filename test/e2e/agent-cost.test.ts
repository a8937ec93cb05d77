// @module-tag deep
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { OwnCall } from "../../packages/aws/src/clients/own-services.ts";
import { agentFlow, calling, toolNode } from "../support/agent.ts";
import { inARow, openTestCloud, type TestCloud } from "../support/cloud.ts";
import { type ModelServer, modelServer } from "../support/model-server/model-server.ts";

let cloud: TestCloud;
let models: ModelServer;
let calls = 0;

beforeAll(async () => {
  models = await modelServer(({ toolResults }) =>
    toolResults.length === 0
      ? { calls: Array.from({ length: calls }, (_, n) => calling("work", { n })) }
      : { text: "done" },
  );
  Object.assign(process.env, models.environment);
  cloud = await openTestCloud();
});
afterAll(async () => {
  await cloud.close();
  for (const name of Object.keys(models.environment)) delete process.env[name];
  await models[Symbol.asyncDispose]();
});

/** Counts the calls of DynamoDB during a run. */
async function countCalls(workflow: object): Promise<number> {
  const version = await cloud.publish(workflow);
  await cloud.run(version, '{"case": "x"}');
  let made = 0;
  const note = (message: unknown) => {
    if ((message as OwnCall).client === "DynamoDBClient") made++;
  };
  subscribe("nova.service.called", note);
  try {
    const trace = await cloud.run(version, '{"case": "x"}');
    expect(trace.execution.status).toBe("completed");
  } finally {
    unsubscribe("nova.service.called", note);
  }
  return made;
}

const code = 'context["done"] = True';
// The difference is large, because the number of calls of one run varies with the order of its deliveries.
const [few, many] = [2, 42];

it("one call of an agent costs at most 1.3 times as many DynamoDB calls as one item of a map with a code node", {
  timeout: 120_000,
}, async () => {
  const items = (count: number) =>
    inARow(`items-${count}`, {
      list: `context["list"] = list(range(${count}))`,
      each: { type: "map", items: "list", nodes: [{ id: "work", type: "action", code }], edges: [] },
    });
  const tool = toolNode("work", code, { n: { type: "integer" } });
  const agent = (count: number) => {
    calls = count;
    return countCalls(agentFlow(`agent-${count}`, [tool], { max_steps: 60 }));
  };
  const perItem = ((await countCalls(items(many))) - (await countCalls(items(few)))) / (many - few);
  const perCall = ((await agent(many)) - (await agent(few))) / (many - few);
  expect(perCall).toBeLessThanOrEqual(1.3 * perItem);
});
