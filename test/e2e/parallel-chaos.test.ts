// @module-tag deep
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { openChaoticCloud, strays, type TestCloud, verified } from "../support/cloud.ts";
import { forkedRuns } from "../support/forked.ts";

let cloud: TestCloud;

beforeAll(async () => {
  cloud = await openChaoticCloud(23);
});

afterAll(() => cloud.close());

it.concurrent.each(Object.entries(forkedRuns))(
  "a workflow with forks sets the expected values when tasks are delivered twice and Lambdas die: %s",
  async (_, { workflow, context = {}, path, values }) => {
    const trace = await cloud.run(await cloud.publish(workflow), JSON.stringify(context));
    expect(trace.path).toEqual(path);
    expect(JSON.parse(trace.context.text)).toEqual(values);
    expect(await verified(cloud, trace)).toBe("anchored");
  },
  180_000,
);

it("no sandbox stays occupied after double deliveries and killed Lambdas in forks", async () => {
  await vi.waitFor(async () => expect(await strays(cloud)).toEqual([]), 30_000);
}, 60_000);
