import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compiledFlow, toolNode } from "../support/agent.ts";
import { openTestCloud, type TestCloud, verified } from "../support/cloud.ts";
import { type ModelServer, modelServer } from "../support/model-server/model-server.ts";

let models: ModelServer;
let cloud: TestCloud;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  models = await modelServer(() => ({ text: "never asked" }));
  environment = { ...models.environment, NOVA_MODELS: "off" };
  Object.assign(process.env, environment);
  cloud = await openTestCloud();
});

afterAll(async () => {
  await cloud.close();
  for (const name of Object.keys(environment)) delete process.env[name];
  await models[Symbol.asyncDispose]();
});

describe("compiled code of an agent, if NOVA_MODELS is off,", () => {
  const lookUp = toolNode("look_up", 'context["order"] = {"total": 850.0}', { id: { type: "integer" } });
  const code = `order = tools.look_up(id=context["id"])["order"]\ncontext["resolve"] = f"{order['total']}"`;
  const run = async (context: string) => cloud.run(await cloud.publish(compiledFlow("off", [lookUp], code)), context);

  it("runs with its tools", async () => {
    const trace = await run('{"case": "x", "id": 7}');
    expect(JSON.parse(trace.context.text).resolve).toBe("850.0");
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("ends the run with an error if the code fails, because the agent would ask a model", async () => {
    const trace = await run('{"case": "x"}');
    const message = expect.stringMatching(/^node "resolve_code" would ask a model, and models are off \(NOVA_MODELS\)/);
    expect(trace.execution).toMatchObject({
      status: "failed",
      error: { node: "resolve_code", class: "NodeFailed", message },
    });
    expect(trace.entries[1]?.reply).toMatchObject({ code_failed: expect.stringContaining("KeyError") });
    expect(await verified(cloud, trace)).toBe("anchored");
    expect(models.requests).toEqual([]);
  });
});
