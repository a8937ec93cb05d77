import { join } from "node:path";
import { createKey } from "@nova/service";
import { monotonicFactory } from "ulid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bytesIn } from "../support/bundle.ts";
import { openTestCloud, type TestCloud } from "../support/cloud.ts";
import { httpEvent } from "../support/http-event.ts";
import { callInFreshProcess } from "../support/lambda-process.ts";
import { stacksOf } from "../support/stacks.ts";
import { asking } from "./api/support/flows.ts";

const megabyte = 1024 * 1024;
let folder: string;
let cloud: TestCloud;
let authorization: string;

beforeAll(async () => {
  folder = await (await stacksOf("production")).bundle("nova-api");
  cloud = await openTestCloud();
  const { text } = await createKey(cloud.service, null, { ulid: monotonicFactory()(), role: "admin" });
  authorization = `Bearer ${text}`;
});
afterAll(() => cloud.close());

function ask(request: string, body?: object) {
  const event = httpEvent(request, { authorization, "content-type": "application/json" }, body);
  return callInFreshProcess(join(folder, "functions/api/index.mjs"), event, { ...process.env });
}

describe("what SST bundles for nova-api", () => {
  it("has less than 6 MB, and nothing of what runs code", () => {
    if (process.env.NOVA_BUNDLE_SIZES) process.stdout.write(`MB of nova-api: ${bytesIn(folder, "") / megabyte}\n`);
    expect(bytesIn(folder, "") / megabyte).toBeLessThan(6);
    expect(bytesIn(folder, ".wasm")).toBe(0);
  });

  it.each([
    ["says what it can be asked", "GET /openapi.json", undefined, 200, '"openapi":"3.1'],
    ["validates and publishes with nothing beside it", "POST /workflows", asking, 201, '"status":"ready"'],
    ["starts a run of what it has published", "POST /workflows/asking/execute", {}, 202, '"status":"running"'],
    ["refuses what does not fit", "POST /workflows", { nodes: [] }, 422, "problem"],
  ])("%s, in a fresh process", async (_, request, body, statusCode, text) => {
    const ended = await ask(request, body);
    expect(ended).toMatchObject({ answer: { statusCode } });
    expect(JSON.stringify(ended).replaceAll("\\", "")).toContain(text);
  });
});
