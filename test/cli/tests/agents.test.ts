import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { agentFlow, calling, toolNode } from "../../support/agent.ts";
import { root } from "../../support/imports.ts";
import { type ModelServer, modelServer, type Respond } from "../../support/model-server/model-server.ts";
import { newFolder, nova } from "../support/nova.ts";

let models: ModelServer;
let respond: Respond;

beforeAll(async () => {
  models = await modelServer((request) => respond(request));
  Object.assign(process.env, models.environment);
});

beforeEach(() => models.requests.splice(0));

afterAll(async () => {
  for (const name of Object.keys(models.environment)) delete process.env[name];
  await models[Symbol.asyncDispose]();
});

const lookUp = toolNode(
  "look_up",
  'context["order"] = {"id": context["id"], "total": 850.0}',
  { id: { type: "integer" } },
  { effects: false },
);

it("nova test takes the answers of the model from the recorded run, and runs only tools without effects", async () => {
  const cwd = await newFolder();
  const definition = agentFlow("kept", [
    lookUp,
    toolNode("pay", 'import uuid\ncontext["paid"] = str(uuid.uuid4())', {}, { effects: true }),
  ]);
  await mkdir(join(cwd, "kept"));
  const text = JSON.stringify(definition);
  await writeFile(join(cwd, "kept", "workflow.json"), text);
  respond = ({ toolResults: { length } }) =>
    length === 0 ? { calls: [calling("look_up", { id: 7 }), calling("pay", {})] } : { text: "done" };
  const ran = await nova(cwd, "run", "kept", "--json", "--set", 'case="x"');
  expect([ran.code, ran.stderr]).toEqual([0, ""]);
  const { execution_id } = JSON.parse(ran.stdout);
  expect(await nova(cwd, "test", "add", execution_id, "--name", "one")).toMatchObject({ code: 0 });
  models.requests.splice(0);
  respond = () => ({ text: "never asked" });
  const tested = await nova(cwd, "test", "kept", "--json");
  expect(JSON.parse(tested.stdout)).toMatchObject({ passed: 1, failed: 0, stale: 0 });
  expect(models.requests).toEqual([]);
  await writeFile(join(cwd, "kept", "workflow.json"), text.replace("850.0", "851.0"));
  expect(JSON.parse((await nova(cwd, "test", "kept", "--json")).stdout)).toMatchObject({ passed: 0, failed: 1 });
}, 120_000);

it("nova run refuses a workflow with an agent if NOVA_MODELS is off", async () => {
  const cwd = await newFolder();
  await cp(join(root, "packages/examples/refunds"), join(cwd, "refunds"), { recursive: true });
  process.env.NOVA_MODELS = "off";
  try {
    const { code, stdout, stderr } = await nova(cwd, "run", "refunds", "--set", 'mail="x"');
    expect([code, stdout + stderr]).toEqual([expect.any(Number), expect.stringContaining("NOVA_MODELS is off here")]);
    expect(code).not.toBe(0);
  } finally {
    delete process.env.NOVA_MODELS;
  }
  expect(models.requests).toEqual([]);
}, 60_000);
