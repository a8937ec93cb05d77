import { planRestart, readTrace, restartExecution } from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestCloud, type TestCloud, verified } from "../../support/cloud.ts";
import { action, between, ways } from "../../support/forked.ts";

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await openTestCloud();
});
afterAll(() => cloud.close());

/** Item 1 fails in one of its two branches, and the map tolerates that. */
const item = ["fork", "left", "right"].map((id) => action(id, id === "right" ? "1 / (context['item'] - 1)" : "pass"));
const each = {
  ...{ id: "each", type: "map", items: "list", tolerated_failures: 1, nodes: item },
  edges: ways("fork > left", "fork > right"),
};
const edges = ways("start > list > each > sum > last > end");
const nodes = [action("list", "context['list'] = [0, 1, 2]"), each, action("sum", "pass"), action("last", "pass")];
const flow = between("tolerant", nodes, edges);

describe("a failure that a map tolerates", { timeout: 60_000 }, () => {
  it.each([
    ["the node after the map", { from: "sum" }, ["sum", "last"]],
    ["another item", { from: "each[2].left" }, ["each[2].left", "sum", "last"]],
    ["a node at all its places", { again: ["last"] }, ["last"]],
  ])("stays if %s runs again", async (_what, more, runs) => {
    const first = await cloud.run(await cloud.publish(flow));
    expect(first.execution.status).toBe("completed");
    const source = await cloud.ports.executions.get(first.execution.id);
    const version = await cloud.ports.workflows.latest("tolerant");
    if (!source || !version) throw new TypeError("the first run has left nothing");
    const request = { source, version, by: "a test", ...more };
    const { execution, forecast } = await restartExecution(cloud.ports, request);
    expect(forecast).toMatchObject({ runs, misfits: [] });
    await cloud.untilEnd(execution.id);
    const trace = await readTrace(cloud.ports, execution.id, { full: true });
    expect(trace.execution).toMatchObject({ status: "completed", nodes: runs.length });
    expect(JSON.parse(trace.context.text).results).toEqual(JSON.parse(first.context.text).results);
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("stays, with the branch that it stopped", async () => {
    const slow = item.map((node) => (node.id === "left" ? action("left", "import time\ntime.sleep(1)") : node));
    const stopping = between("stopping", [nodes[0], { ...each, nodes: slow }, ...nodes.slice(2)] as object[], edges);
    const first = await cloud.run(await cloud.publish(stopping));
    const source = await cloud.ports.executions.get(first.execution.id);
    const version = await cloud.ports.workflows.latest("stopping");
    if (!source || !version) throw new TypeError("the first run has left nothing");
    const { execution } = await restartExecution(cloud.ports, { source, version, by: "a test", from: "sum" });
    await cloud.untilEnd(execution.id);
    const trace = await readTrace(cloud.ports, execution.id, { full: true });
    expect(trace.execution).toMatchObject({ status: "completed", nodes: 2 });
    expect(JSON.parse(trace.context.text).results).toEqual(JSON.parse(first.context.text).results);
  });

  it("runs again if the map does not tolerate it, and the forecast lists the onError node of the map", async () => {
    const steps = [
      nodes[0],
      { ...each, tolerated_failures: 0, onError: "rescue" },
      action("rescue", "pass"),
    ] as object[];
    const rescued = between("rescued", steps, ways("start > list > each > end", "rescue > end"));
    const first = await cloud.run(await cloud.publish(rescued));
    const source = await cloud.ports.executions.get(first.execution.id);
    const version = await cloud.ports.workflows.latest("rescued");
    if (!source || !version) throw new TypeError("the first run has left nothing");
    const { forecast } = await planRestart(cloud.ports, { source, version, by: "a test", from: "each[1].right" });
    expect(forecast.runs).toContain("rescue");
    expect(forecast.again).toContain("rescue");
  });

  it("runs again if its place is named", async () => {
    const first = await cloud.run(await cloud.publish(flow));
    const source = await cloud.ports.executions.get(first.execution.id);
    const version = await cloud.ports.workflows.latest("tolerant");
    if (!source || !version) throw new TypeError("the first run has left nothing");
    const { forecast } = await planRestart(cloud.ports, { source, version, by: "a test", from: "each[1].right" });
    expect(forecast.runs).toEqual(["each[1].right", "sum", "last"]);
  });
});
