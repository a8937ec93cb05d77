import { afterAll, beforeAll, expect, it } from "vitest";
import { openTestCloud, type TestCloud, verified } from "../support/cloud.ts";

let cloud: TestCloud;

beforeAll(async () => {
  cloud = await openTestCloud();
});

afterAll(async () => {
  await cloud.close();
});

it("the template `hello` runs from its definition to a verified chain", async () => {
  const version = await cloud.publish("packages/templates/hello");
  const trace = await cloud.run(version, '{"name": "Ada"}');
  expect(trace.execution.error).toBeUndefined();
  expect(trace.execution.status).toBe("completed");
  expect(await verified(cloud, trace)).toBe("anchored");
});
