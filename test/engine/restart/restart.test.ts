import {
  type Forecast,
  Names,
  planRestart,
  type RestartRequest,
  readTrace,
  restartExecution,
  type Trace,
  type TraceEntry,
} from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestCloud, verified } from "../../support/cloud.ts";
import { action, between, ways } from "../../support/forked.ts";

const cloud = await openTestCloud();
afterAll(() => cloud.close());

const broken = "if context['item'] != 1: raise ValueError('not one')";
const map = (id: string, nodes: object[], edges: object[], more: object = {}) => ({
  ...{ id, type: "map", items: "list", as: "item", tolerated_failures: 9, nodes, edges, ...more },
});
const body = (code: string) => [action("first", "pass"), action("second", code)];
const flow = (code: string) =>
  between(
    "items",
    [
      action("list", "context['list'] = list(range(3))"),
      map("each", body(code), ways("first > second")),
      action("after", "pass"),
    ],
    ways("start > list > each > after > end"),
  );

async function ran(definition: object, context = "{}") {
  const { execution } = await cloud.run(await cloud.publish(definition), context);
  return execution.id;
}

/** Builds the request of a restart with the latest version of the workflow. */
async function requestOf(id: string, more: Partial<RestartRequest>): Promise<RestartRequest> {
  const source = await cloud.ports.executions.get(id);
  const version = source && (await cloud.ports.workflows.latest(source.workflowId));
  if (!source || !version) throw new TypeError(`execution ${id} has no record, or no version`);
  return { source, version, by: "a test", ...more };
}

async function restarted(id: string, more: Partial<RestartRequest> = {}) {
  const { execution, forecast } = await restartExecution(cloud.ports, await requestOf(id, more));
  await cloud.untilEnd(execution.id);
  const trace = await readTrace(cloud.ports, execution.id, { full: true });
  expect(await verified(cloud, trace)).toBe("anchored");
  return { trace, forecast };
}

async function forecastOf(id: string, more: Partial<RestartRequest>): Promise<Forecast> {
  return (await planRestart(cloud.ports, await requestOf(id, more))).forecast;
}

/** Returns the places of the nodes in a trace: the places whose outcomes were reused, and the places that ran. */
function placesIn(entries: readonly TraceEntry[]) {
  const names = new Names();
  const [reused, runs]: [string[], string[]] = [[], []];
  const walk = (list: readonly TraceEntry[]) => {
    for (const entry of list) {
      const name = names.of(entry);
      const isStep = !["start", "end", "join", "close"].includes(entry.node_type);
      if (isStep) (entry.reused_from ? reused : runs).push(name);
      for (const branch of entry.branches ?? []) walk(branch.entries);
    }
  };
  walk(entries);
  return { reused: reused.toSorted(), runs: runs.toSorted() };
}

const foreseen = ({ reused, runs }: Forecast) => ({ reused: reused.toSorted(), runs: runs.toSorted() });

describe("a restart of a completed run", { timeout: 60_000 }, () => {
  it("repeats every item with a failure that the map tolerated, and uses the corrected version", async () => {
    const id = await ran(flow(broken));
    expect((await cloud.ports.executions.get(id))?.status).toBe("completed");
    await cloud.publish(flow("context['ok'] = True"));
    const { trace, forecast } = await restarted(id);
    expect(forecast.runs).toEqual(["each[0].second", "each[2].second", "after"]);
    expect(placesIn(trace.entries)).toEqual(foreseen(forecast));
    expect(JSON.parse(trace.context.text).results).toMatchObject([{ ok: true }, {}, { ok: true }]);
  });

  it("is refused if no node of the run failed", async () => {
    const id = await ran(between("sound", [action("only", "pass")], ways("start > only > end")));
    await expect(restarted(id)).rejects.toThrow(/was completed - say from which node/);
  });
});

describe("the places from which a restart repeats a run", { timeout: 60_000 }, () => {
  let source: string;
  beforeAll(async () => {
    source = await ran(flow(broken));
  });

  it.each([
    ["one item", ["each[1]"], ["each[1].first", "each[1].second", "after"]],
    [
      "several items",
      ["each[0]", "each[2]"],
      ["each[0].first", "each[0].second", "each[2].first", "each[2].second", "after"],
    ],
    [
      "an item, and a node of another item",
      ["each[0]", "each[2].second"],
      ["each[0].first", "each[0].second", "each[2].second", "after"],
    ],
    ["an item and a node after the map", ["after", "each[2]"], ["each[2].first", "each[2].second", "after"]],
    ["a place that is named twice", ["each[2].second", "each[2].second"], ["each[2].second", "after"]],
  ])("can be %s", async (_what, from, runs) => {
    const { trace, forecast } = await restarted(source, { from });
    expect(forecast.runs.toSorted()).toEqual(runs.toSorted());
    expect(placesIn(trace.entries)).toEqual(foreseen(forecast));
  });

  it("can be an item of a nested map, or of a map that a loop visits again", async () => {
    const inner = map("inner", [action("leaf", "pass")], [], { items: "item", as: "leaf_of" });
    const outer = map("outer", [inner], [], { items: "lists" });
    const nodes = [
      action("make", "context['lists'] = [[1, 2], [3, 4, 5]]; context['n'] = context.get('n', 0) + 1"),
      outer,
      { id: "more", type: "decision", code: "context['branch_decision'] = context['n'] < 2" },
    ];
    const edges = [
      ...ways("start > make > outer > more"),
      { from: "more", to: "make", condition: "true", max: 3 },
      { from: "more", to: "end", condition: "false" },
      { from: "more", to: "end", condition: "default" },
    ];
    const id = await ran(between("nested", nodes, edges));
    const { trace } = await restarted(id, { from: ["outer#2[1].inner[2]", "outer#2[0].inner[1]"] });
    expect(placesIn(trace.entries).runs).toEqual(["more#2", "outer#2[0].inner[1].leaf", "outer#2[1].inner[2].leaf"]);
  });

  it("can be places inside a workflow node, whose whole inner run is repeated if they include the node itself", async () => {
    const calls = between("calling", [{ id: "bill", type: "workflow", workflow: "items" }], ways("start > bill > end"));
    const id = await ran(calls);
    const inside = async (from: string[]) => {
      const { trace } = await restarted(id, { from });
      const child = trace.entries.find(({ node_id }) => node_id === "bill")?.child?.entries ?? [];
      return placesIn(child).runs;
    };
    expect(await inside(["bill/each[0]", "bill/each[2].second"])).toEqual([
      ...["after", "each[0].first", "each[0].second", "each[2].second"],
    ]);
    expect(await inside(["bill/each[0]", "bill"])).toHaveLength(9);
  });

  it.each([
    ["each[3]", /map "each" of execution exec_\w+ had 3 items: each\[0\] to each\[2\] - name one of them, or the map$/],
    ["after[0]", /never came to "after\[0\]"/],
    ["each[02]", /never came to "each\[02\]"/],
    ["each[-1]", /never came to "each\[-1\]"/],
    ["each[2]/second", /"each\[2\]" ran no other workflow, .* - write each\[2\]\.second for a node of the item/],
    ["", /never came to ""/],
  ])("cause an error if %j is not a place of the run", async (place, sentence) => {
    await expect(restarted(source, { from: ["after", place] })).rejects.toThrow(sentence);
  });
});

/** In item 1 one of the two branches fails, and the map tolerates this failure. */
const item = ["fork", "left", "right"].map((id) => action(id, id === "right" ? "1 / (context['item'] - 1)" : "pass"));
const each = {
  ...{ id: "each", type: "map", items: "list", tolerated_failures: 1, nodes: item },
  edges: ways("fork > left", "fork > right"),
};
const edges = ways("start > list > each > sum > last > end");
const nodes = [action("list", "context['list'] = [0, 1, 2]"), each, action("sum", "pass"), action("last", "pass")];
const tolerant = between("tolerant", nodes, edges);

describe("a failure that a map tolerates", { timeout: 60_000 }, () => {
  let first: Trace;
  beforeAll(async () => {
    first = await cloud.run(await cloud.publish(tolerant));
  });

  it.each([
    ["the node after the map", { from: "sum" }, ["sum", "last"]],
    ["another item of the map", { from: "each[2].left" }, ["each[2].left", "sum", "last"]],
    ["one node at all its places", { again: ["last"] }, ["last"]],
  ])("is reused if the restart runs %s again", async (_what, more, runs) => {
    expect(first.execution.status).toBe("completed");
    const { trace, forecast } = await restarted(first.execution.id, more);
    expect(forecast).toMatchObject({ runs, misfits: [] });
    expect(trace.execution).toMatchObject({ status: "completed", nodes: runs.length });
    expect(JSON.parse(trace.context.text).results).toEqual(JSON.parse(first.context.text).results);
  });

  it("is reused together with the other branch, which the failure stopped", async () => {
    const slow = item.map((node) => (node.id === "left" ? action("left", "import time\ntime.sleep(1)") : node));
    const [list, , ...after] = nodes as object[];
    const stopping = between("stopping", [list, { ...each, nodes: slow }, ...after] as object[], edges);
    const stopped = await cloud.run(await cloud.publish(stopping));
    const { trace } = await restarted(stopped.execution.id, { from: "sum" });
    expect(trace.execution).toMatchObject({ status: "completed", nodes: 2 });
    expect(JSON.parse(trace.context.text).results).toEqual(JSON.parse(stopped.context.text).results);
  });

  it("is no longer tolerated if the new map tolerates no failure, and the forecast lists the onError node of the map", async () => {
    const strict = { ...each, tolerated_failures: 0, onError: "rescue" };
    const steps = [nodes[0], strict, action("rescue", "pass")] as object[];
    const id = await ran(between("rescued", steps, ways("start > list > each > end", "rescue > end")));
    const { runs, again } = await forecastOf(id, { from: "each[1].right" });
    expect(runs).toContain("rescue");
    expect(again).toContain("rescue");
  });

  it("is not reused if the restart names the place of the failed node", async () => {
    const { id } = first.execution;
    expect((await forecastOf(id, { from: "each[1].right" })).runs).toEqual(["each[1].right", "sum", "last"]);
  });
});

describe("a restart with another version of the workflow", { timeout: 60_000 }, () => {
  const code = (id: string) => action(id, `context['${id}'] = '${id}'`);
  const steps = (ids: string, ...edges: string[]) => between("flow", ids.split(" ").map(code), ways(...edges));

  it("runs all nodes of a new branch and all nodes after the join, as the forecast says", async () => {
    const id = await ran(steps("f c d e z", "start > f > c > e > z > end", "f > d > e"));
    await cloud.publish(steps("f c n d e z", "start > f > c > e > z > end", "f > n > d > e"));
    const { trace, forecast } = await restarted(id, { from: "z" });
    expect(forecast).toMatchObject({ reused: ["f", "c"], runs: ["n", "d", "e", "z"], misfits: [] });
    const taken = trace.entries.filter(({ reused_from }) => reused_from).map(({ node_id }) => node_id);
    expect(taken).toEqual(["f"]);
    expect(trace.execution).toMatchObject({ status: "completed", nodes: 4 });
  });

  it("reports a branch that the new version lacks if later outcomes depend on that branch", async () => {
    const id = await ran(steps("f c d g e z", "start > f > c > e > z > end", "f > d > e", "f > g > e"));
    await cloud.publish(steps("f c d e z", "start > f > c > e > z > end", "f > d > e"));
    expect((await forecastOf(id, { from: "z" })).misfits).toEqual(["g: no step of the version is this one"]);
  });
});
