import { type Forecast, Names, type RestartRequest, readTrace, restartExecution, type TraceEntry } from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestCloud, type TestCloud, verified } from "../../support/cloud.ts";
import { action, between, ways } from "../../support/forked.ts";

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await openTestCloud();
});
afterAll(() => cloud.close());

const broken = "if context['item'] % 2: raise ValueError('odd')";
const map = (id: string, nodes: object[], edges: object[], more: object = {}) => ({
  ...{ id, type: "map", items: "list", as: "item", tolerated_failures: 9, nodes, edges, ...more },
});
const body = (code: string) => [action("first", "pass"), action("second", code)];
const flow = (code: string) =>
  between(
    "items",
    [
      action("list", "context['list'] = list(range(5))"),
      map("each", body(code), ways("first > second")),
      action("after", "pass"),
    ],
    ways("start > list > each > after > end"),
  );

async function ran(definition: object, context = "{}") {
  const { execution } = await cloud.run(await cloud.publish(definition), context);
  return execution.id;
}

async function restarted(id: string, more: Partial<RestartRequest> = {}) {
  const source = await cloud.ports.executions.get(id);
  const version = source && (await cloud.ports.workflows.latest(source.workflowId));
  if (!source || !version) throw new TypeError("the first run has left nothing");
  const { execution, forecast } = await restartExecution(cloud.ports, { source, version, by: "a test", ...more });
  await cloud.untilEnd(execution.id);
  const trace = await readTrace(cloud.ports, execution.id, { full: true });
  expect(await verified(cloud, trace)).toBe("anchored");
  return { trace, forecast };
}

/** Places of nodes in a trace: those whose outcomes were reused, and those that ran. */
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
  it("runs every item whose failure a map tolerated, with the version that corrects them", async () => {
    const id = await ran(flow(broken));
    expect((await cloud.ports.executions.get(id))?.status).toBe("completed");
    await cloud.publish(flow("context['ok'] = True"));
    const { trace, forecast } = await restarted(id);
    expect(forecast.runs).toEqual(["each[1].second", "each[3].second", "after"]);
    expect(placesIn(trace.entries)).toEqual(foreseen(forecast));
    expect(JSON.parse(trace.context.text).results).toMatchObject([{}, { ok: true }, {}, { ok: true }, {}]);
  });

  it("is refused if nothing failed in it", async () => {
    const id = await ran(flow("pass"));
    await expect(restarted(id)).rejects.toThrow(/was completed - say from which node/);
  });
});

describe("places of a restart", { timeout: 60_000 }, () => {
  let source: string;
  beforeAll(async () => {
    source = await ran(flow(broken));
  });

  it.each([
    ["one item", ["each[2]"], ["each[2].first", "each[2].second", "after"]],
    [
      "several items",
      ["each[0]", "each[4]"],
      ["each[0].first", "each[0].second", "each[4].first", "each[4].second", "after"],
    ],
    [
      "an item and a node of another one",
      ["each[0]", "each[2].second"],
      ["each[0].first", "each[0].second", "each[2].second", "after"],
    ],
    ["an item and a node after the map", ["after", "each[2]"], ["each[2].first", "each[2].second", "after"]],
    ["a place twice", ["each[2].second", "each[2].second"], ["each[2].second", "after"]],
  ])("may be %s", async (_what, from, runs) => {
    const { trace, forecast } = await restarted(source, { from });
    expect(forecast.runs.toSorted()).toEqual(runs.toSorted());
    expect(placesIn(trace.entries)).toEqual(foreseen(forecast));
  });

  it("may be an item of a map inside an item, or of a map that a loop visits again", async () => {
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

  it("may be several places in another workflow, and the node that runs it overrides them", async () => {
    const calls = between("calling", [{ id: "bill", type: "workflow", workflow: "items" }], ways("start > bill > end"));
    const id = await ran(calls);
    const inside = async (from: string[]) => {
      const { trace } = await restarted(id, { from });
      const child = trace.entries.find(({ node_id }) => node_id === "bill")?.child?.entries ?? [];
      return placesIn(child).runs;
    };
    expect(await inside(["bill/each[0]", "bill/each[4].second"])).toEqual([
      ...["after", "each[0].first", "each[0].second", "each[4].second"],
    ]);
    expect(await inside(["bill/each[0]", "bill"])).toHaveLength(13);
  });

  it.each([
    ["each[5]", /map "each" of execution exec_\w+ had 5 items: each\[0\] to each\[4\] - name one of them, or the map$/],
    ["after[0]", /never came to "after\[0\]"/],
    ["each[02]", /never came to "each\[02\]"/],
    ["each[-1]", /never came to "each\[-1\]"/],
    ["each[2]/second", /"each\[2\]" ran no other workflow, .* - write each\[2\]\.second for a node of the item/],
    ["", /never came to ""/],
  ])("are refused if %j is not a place of the run", async (place, sentence) => {
    await expect(restarted(source, { from: ["after", place] })).rejects.toThrow(sentence);
  });
});
