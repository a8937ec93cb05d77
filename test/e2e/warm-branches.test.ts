// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import type { WorkflowVersion } from "@nova/engine";
import { afterAll, expect, it } from "vitest";
import { openTestCloud, unoffered, verified } from "../support/cloud.ts";
import { action, between, ways } from "../support/forked.ts";

const cloud = await openTestCloud();

afterAll(() => cloud.close());

/**
 * Code that looks for a file of earlier runs and then creates this file. The code takes so long that all items run at
 * the same time.
 */
const look = `import os, time
context["found"] = os.path.exists("/tmp/trace")
open("/tmp/trace", "w").close()
time.sleep(0.3)`;

function fourAtOnce(): object {
  const each = { id: "each", type: "map", items: "list", nodes: [action("look", look)], edges: [] };
  const nodes = [action("list", "context['list'] = [1, 2, 3, 4]"), each, action("last", "context['done'] = 1")];
  return between("batch", nodes, ways("start > list > each > last > end"));
}

/** Runs the workflow and returns the ids of all sandboxes in which its nodes and items ran. */
async function sandboxesOf(version: WorkflowVersion): Promise<Set<string>> {
  const trace = await cloud.run(version);
  expect(await verified(cloud, trace)).toBe("anchored");
  expect(JSON.parse(trace.context.text).results).toEqual(Array(4).fill({ found: false }));
  const items = trace.entries.flatMap(({ branches = [] }) => branches.flatMap(({ entries }) => entries));
  return new Set([...trace.entries, ...items].flatMap(({ sandbox_id }) => sandbox_id ?? []));
}

it("items of a map reuse sandboxes of earlier runs, and do not see files of those runs", async () => {
  const version = await cloud.publish(fourAtOnce());
  const made = new Set<string>();
  for (let count = 0; count < 5; count++) for (const id of await sandboxesOf(version)) made.add(id);
  // If all items run at the same time, the five runs create 5 + 4 + 3 + 1 + 0 sandboxes. Without reuse they would
  // create 21.
  expect(made.size).toBeLessThan(17);
  expect(await unoffered(cloud)).toEqual([]);
});
