import { afterAll, beforeAll, expect, it } from "vitest";
import { openTestCloud, type TestCloud, verified } from "../support/cloud.ts";
import { action, between, ways } from "../support/forked.ts";

let cloud: TestCloud;

beforeAll(async () => {
  cloud = await openTestCloud({ limits: { concurrent: 2 } });
});

afterAll(() => cloud.close());

it("branches and items wait for sandboxes of one another and then complete if E2B's plan allows too few sandboxes", async () => {
  const branches = ["a", "b", "c"].map((id) => action(id, `context['${id}'] = 1`));
  const each = {
    id: "each",
    type: "map",
    items: "list",
    max_concurrency: 4,
    nodes: [action("double", "context['double'] = 2 * context['item']")],
    edges: [],
  };
  const fan = branches.flatMap(({ id }) => ways(`first > ${id} > each`));
  const nodes = [action("first", "context['list'] = [1, 2, 3, 4, 5, 6]"), ...branches, each];
  const version = await cloud.publish(between("limited", nodes, [...ways("start > first", "each > end"), ...fan]));
  const trace = await cloud.run(version);
  expect(JSON.parse(trace.context.text)).toMatchObject({
    a: 1,
    b: 1,
    c: 1,
    results: [2, 4, 6, 8, 10, 12].map((double) => ({ double })),
  });
  expect(await verified(cloud, trace)).toBe("anchored");
}, 120_000);
