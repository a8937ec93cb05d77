// @module-tag deep
import { afterAll, beforeAll, expect, it } from "vitest";
import { openChaoticCloud, type TestCloud, verified } from "../support/cloud.ts";
import { countingLoop, countingPath } from "../support/counting-loop.ts";

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await openChaoticCloud(31);
});
afterAll(() => cloud.close());

it("a long loop continues over several executions even if tasks are delivered twice and Lambdas die", async () => {
  const version = await cloud.publish(countingLoop("restless"), { historyEvents: 30 });
  const trace = await cloud.run(version, '{"wanted": 12}');
  expect(trace.path).toEqual(countingPath(12));
  expect(JSON.parse(trace.context.text)).toMatchObject({ n: 12 });
  expect(await verified(cloud, trace)).toBe("anchored");
}, 180_000);
