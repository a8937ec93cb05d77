// @module-tag deep
import { afterAll, expect, it } from "vitest";
import { openTestCloud } from "../support/cloud.ts";
import { action, between, ways } from "../support/forked.ts";

const cloud = await openTestCloud({ limits: { concurrent: 4 } });

afterAll(() => cloud.close());

/**
 * The workflow has a map, and then two branches with a map each. If one branch kept idle sandboxes, the other branch
 * would never get any.
 */
it("a branch gives up its idle sandboxes for another branch if E2B's plan allows no more sandboxes", {
  timeout: 60_000,
}, async () => {
  const nodes = (id: string, code: string) => [action(`${id}-item`, code, { timeout: 30 })];
  const map = (id: string, code = "pass") => ({
    id,
    type: "map",
    items: "list",
    max_concurrency: 3,
    nodes: nodes(id, code),
    edges: [],
  });
  const steps = [
    action("list", "context['list'] = [1, 2, 3]", { timeout: 30 }),
    map("each", "import time\ntime.sleep(0.5)"),
    ...["fork", "left", "right", "join"].map((id) => action(id, "pass", { timeout: 30 })),
    map("lefts"),
    map("rights"),
  ];
  const edges = ways("start > list > each > fork > left > lefts > join > end", "fork > right > rights > join");
  const trace = await cloud.run(await cloud.publish(between("wants", steps, edges)));
  expect(trace.execution.status).toBe("completed");
});
