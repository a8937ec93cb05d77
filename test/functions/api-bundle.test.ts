// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { createKey } from "@nova/service";
import { monotonicFactory } from "ulid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inARow, openTestCloud, type TestCloud } from "../support/cloud.ts";
import { type DeployedBundle, deployedBundle } from "../support/deployed-bundle.ts";
import { httpEvent } from "../support/http-event.ts";
import { callInFreshProcess } from "../support/lambda-process.ts";
import { type ParameterStore, parameterStore } from "../support/parameter-store.ts";
import { asking } from "./api/support/flows.ts";

const parameter = "/nova/production/E2B_API_KEY";
const wrongKey = `e2b_${"7".repeat(40)}`;
let api: DeployedBundle;
let cloud: TestCloud;
let authorization: string;
let parameters: ParameterStore;
let wrongParameters: ParameterStore;
let noParameters: ParameterStore;

beforeAll(async () => {
  api = await deployedBundle("nova-api");
  cloud = await openTestCloud();
  const { text } = await createKey(cloud.service, null, { ulid: monotonicFactory()(), role: "admin" });
  authorization = `Bearer ${text}`;
  [parameters, wrongParameters, noParameters] = await Promise.all([
    parameterStore({ [parameter]: String(cloud.environment.E2B_API_KEY) }),
    parameterStore({ [parameter]: wrongKey }),
    parameterStore({}),
  ]);
});
afterAll(async () => {
  for (const store of [parameters, wrongParameters, noParameters]) await store[Symbol.asyncDispose]();
  await cloud.close();
});

/**
 * Calls the deployed function. Its environment variables contain only the name of the parameter with the E2B key, not
 * the key.
 */
async function ask(request: string, body?: object, { url } = parameters) {
  const { E2B_API_KEY: _, ...told } = process.env;
  const host = new URL(told.NOVA_API_URL ?? "").hostname;
  const event = httpEvent(request, { authorization, "content-type": "application/json", host }, body);
  const named = { E2B_API_KEY_PARAMETER: api.variables.E2B_API_KEY_PARAMETER, AWS_ENDPOINT_URL_SSM: url };
  const ended = await callInFreshProcess(api.file, event, { ...told, ...named });
  const { statusCode = 0, body: text = "null" } = "answer" in ended ? (ended.answer as HttpAnswer) : {};
  return {
    ended: JSON.stringify(ended).replaceAll("\\", ""),
    statusCode,
    body: /^[[{n]/.test(text) ? JSON.parse(text) : text,
  };
}

interface HttpAnswer {
  statusCode: number;
  body?: string;
}

/** A workflow with two findings that only the linter ruff reports. */
const flawed = inARow("flawed", { work: "context['a'] = totl", more: "return 1" });

describe("the deployed nova-api, alone in a folder and in a fresh process", { timeout: 60_000 }, () => {
  it.each([
    ["describes its routes", "GET /openapi.json", undefined, 200, '"openapi":"3.1'],
    ["serves its documentation", "GET /llms-full.txt", undefined, 200, "# The definition of a workflow"],
    [
      "serves the tools of agents",
      "POST /mcp",
      { jsonrpc: "2.0", id: 1, method: "tools/list" },
      200,
      '"name":"restart"',
    ],
    ["checks the Python of a definition", "POST /workflows/validate", flawed, 200, '"NOVA602"'],
    ["refuses Python that cannot run", "POST /workflows", flawed, 422, '"NOVA601"'],
    ["publishes Python", "POST /workflows", inARow("adds", { work: "context['a'] = 1" }), 201, '"status":"ready"'],
    ["publishes a workflow with an approval", "POST /workflows", asking, 201, '"status":"ready"'],
    ["starts a run of a published workflow", "POST /workflows/asking/execute", {}, 202, '"status":"running"'],
    ["refuses a definition that does not fit the schema", "POST /workflows", { nodes: [] }, 422, "problem"],
  ])("answers requests to the API: it %s", async (_, request, body, statusCode, text) => {
    const asked = await ask(request, body);
    expect(asked).toMatchObject({ statusCode });
    expect(asked.ended).toContain(text);
  });

  it("cancels a run and its sandboxes with the E2B key from Systems Manager", async () => {
    const { id } = (await cloud.service.executions.list({ workflow: "asking", limit: 1 })).items[0] ?? { id: "" };
    expect(await ask(`POST /executions/${id}/cancel`)).toMatchObject({
      statusCode: 200,
      body: { status: "cancelled" },
    });
  });

  it("reports in its health that it can use E2B with the key from Systems Manager", async () => {
    const { body } = await ask("GET /health");
    expect(body.checks).toMatchObject({ dynamodb: { state: "ok" }, s3: { state: "ok" }, e2b: { state: "ok" } });
  });

  it("reports in its health that E2B refuses the key, without showing the key", async () => {
    const { ended, body } = await ask("GET /health", undefined, wrongParameters);
    expect(body.checks.e2b).toMatchObject({ state: "down", reason: "E2B refuses the key in E2B_API_KEY" });
    expect(ended).not.toContain(wrongKey);
  });

  it("reports in its health that the key for E2B is missing", async () => {
    const { statusCode, body } = await ask("GET /health", undefined, noParameters);
    expect([statusCode, body.status]).toEqual([200, "degraded"]);
    expect(body.checks.e2b).toMatchObject({ state: "down", reason: expect.stringContaining("E2B_API_KEY is not set") });
  });
});
