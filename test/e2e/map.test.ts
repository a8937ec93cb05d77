import { cancelExecution, readTrace, startExecution } from "@nova/engine";
import { afterAll, describe, expect, it } from "vitest";
import { openTestCloud, verified } from "../support/cloud.ts";
import { countingServer } from "../support/counting-server.ts";
import { action, between, ways } from "../support/forked.ts";

const warnings: string[] = [];
const cloud = await openTestCloud({ warn: (sentence) => warnings.push(sentence) });
const isolated = warnings.length === 0;

afterAll(() => cloud.close());

const mapOver = (nodes: object[], edges: object[] = [], more: object = {}) =>
  between("map", [{ id: "each", type: "map", items: "list", nodes, edges, ...more }], ways("start > each > end"));

async function run(workflow: object, context: object) {
  const trace = await cloud.run(await cloud.publish(workflow), JSON.stringify(context));
  expect(await verified(cloud, trace)).toBe("anchored");
  const items = trace.entries[1]?.branches ?? [];
  return { ...trace, items, values: JSON.parse(trace.context.text) };
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

it.each([0, 1, 50])(
  "a map returns the results of %i items in order, and adds only these results to the context",
  async (count) => {
    const list = numbers(count);
    const square = action("square", "context['square'] = context['item'] ** 2; context['at'] = context['index']");
    const { values, items } = await run(mapOver([square]), { list });
    expect(values).toEqual({ list, results: list.map((n) => ({ square: n * n, at: n })) });
    expect(items.map(({ branch }) => branch)).toEqual(list.map(String));
  },
);

describe("an item of a map that fails", () => {
  const invert = [action("invert", "context['inverse'] = 6 / context['item']"), action("next", "context['n'] = 1")];
  const over = (more: object) => mapOver(invert, ways("invert > next"), { max_concurrency: 1, ...more });
  const division = "ZeroDivisionError: division by zero";

  it("fails the map, so that no later item starts", async () => {
    const { execution, values, items } = await run(over({}), { list: [1, 0, 2] });
    expect(execution).toMatchObject({
      status: "failed",
      error: { node: "invert", class: "NodeFailed", message: `in item 1: ${division}` },
    });
    expect(values).not.toHaveProperty("results");
    expect(items.map(({ entries }) => entries.map(({ status }) => status))).toEqual([
      ["success", "success"],
      ["failed"],
      [],
    ]);
  });

  it.each([
    [1, [3, 0, 2], "completed"],
    [1, [0, 0, 2], "failed"],
    ["50%", [0, 0, 2, 3], "completed"],
    ["50%", [0, 0, 0, 3], "failed"],
  ])("with the tolerated_failures %s and the list %j gives the run the status %s", async (tolerated, list, status) => {
    const { execution, values } = await run(over({ tolerated_failures: tolerated }), { list });
    expect(execution.status).toBe(status);
    const failed = { error: { node: "invert", class: "NodeFailed", message: division } };
    const expected = list.map((n) => (n === 0 ? failed : { inverse: 6 / n, n: 1 }));
    expect(values.results).toEqual(status === "completed" ? expected : undefined);
  });
});

it.runIf(isolated)("an item of a map does not see the keys, results, files and processes of another item", async () => {
  const leave = `
import os, subprocess
context["mine"] = context["index"]
for place in ["/tmp", os.path.expanduser("~"), os.getcwd()]:
    open(place + "/left-behind", "w").write("mine")
subprocess.Popen(["sleep", "600"], start_new_session=True)`;
  const look = `
import glob, os
context["found"] = [place for place in ["/tmp", os.path.expanduser("~"), os.getcwd()] if os.path.exists(place + "/left-behind")]
context["sleeping"] = [path for path in glob.glob("/proc/[0-9]*/cmdline") if b"sleep" in open(path, "rb").read()]
context["keys"] = sorted(context)
context["outputs"] = {name: outputs[name].get("mine") for name in outputs}`;
  // The items run one after the other, so that all of them use one sandbox.
  const workflow = mapOver([action("look", look), action("leave", leave)], ways("look > leave"), {
    max_concurrency: 1,
  });
  const { values, items } = await run(workflow, { list: ["a", "b", "c"] });
  const nothing = { found: [], sleeping: [], keys: ["found", "index", "item", "list", "sleeping"] };
  expect(values.results).toEqual([0, 1, 2].map((mine) => ({ ...nothing, mine, outputs: { start: null, each: null } })));
  const boxes = items.flatMap(({ entries }) => entries.map(({ sandbox_id }) => sandbox_id));
  expect(new Set(boxes).size).toBe(1);
});

it("the cancel of a map stops running code and keeps the entries of completed items", async () => {
  await using outside = await countingServer();
  const code = `
import time, urllib.request
urllib.request.urlopen(f"{context['url']}/{context['index']}").read()
if context["index"] >= 2: time.sleep(600)
context["done"] = True`;
  const version = await cloud.publish(mapOver([action("work", code, outside.reach)], [], { max_concurrency: 2 }));
  const context = JSON.stringify({ list: numbers(20), url: outside.url });
  const { id } = await startExecution(cloud.ports, { version, context });
  await Promise.all([outside.asked("/2"), outside.asked("/3")]);
  await cancelExecution(cloud.ports, id);
  await cloud.untilEnd(id);
  const trace = await readTrace(cloud.ports, id);
  expect(trace.execution.status).toBe("cancelled");
  expect(await verified(cloud, trace)).toBe("anchored");
  const statuses = trace.entries[1]?.branches?.map(({ entries }) =>
    entries.map(({ error_class, status }) => error_class ?? status),
  );
  const closed = ["ExecutionClosed"];
  expect(statuses).toEqual([["success"], ["success"], closed, closed, ...numbers(16).map(() => [])]);
  expect(outside.counts()).toEqual({ "/0": 1, "/1": 1, "/2": 1, "/3": 1 });
});
