// @module-tag deep
import { cancelExecution, restartExecution, startExecution } from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestCloud, type TestCloud } from "../../support/cloud.ts";
import { action, between, ways } from "../../support/forked.ts";

const items = 5_000;
const minutes = 60_000;

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await openTestCloud();
});
afterAll(() => cloud.close());

/** A workflow with a map whose items run two nodes, and with a node after the map that runs in every restart. */
const flow = between(
  "many",
  [
    action("list", "context['list'] = list(range(context['items']))"),
    {
      id: "each",
      type: "map",
      items: "list",
      as: "item",
      into: "all",
      nodes: [action("first", "context['a'] = 'ran'"), action("second", "context['b'] = 'ran'")],
      edges: ways("first > second"),
    },
    action("after", "context['sum'] = sum(one['a'] + one['b'] for one in context['all'])"),
  ],
  ways("start > list > each > after > end"),
);

/**
 * Executes the workflow with given outcomes for all items, so that no code of an item runs. Returns the id of the run.
 */
async function runWithOutcomes(): Promise<string> {
  const version = await cloud.publish(flow);
  const outcomes: Record<string, object> = {};
  for (let item = 0; item < items; item++) {
    outcomes[`each[${item}].first`] = { set: { a: item } };
    outcomes[`each[${item}].second`] = { set: { b: 1 } };
  }
  const context = JSON.stringify({ items });
  const { id } = await startExecution(cloud.ports, {
    version,
    context,
    outcomes: { document: JSON.stringify(outcomes) },
  });
  await cloud.untilEnd(id);
  return id;
}

describe("a restart of a run with 10,000 places", { timeout: 20 * minutes }, () => {
  it("reuses the outcomes of all places through one document", async () => {
    const id = await runWithOutcomes();
    const source = await cloud.ports.executions.get(id);
    const version = source && (await cloud.ports.workflows.latest(source.workflowId));
    if (!source || !version) throw new TypeError(`there is no run ${id}`);
    const request = { source, version, by: "a test", from: ["after"] };
    const { execution, forecast } = await restartExecution(cloud.ports, request);
    expect(forecast.reused.length).toBeGreaterThanOrEqual(2 * items);
    expect(forecast.runs).toEqual(["after"]);
    // Cancels the restart. Its 10,000 entries would take some more minutes, and smaller restarts test the same code.
    await cancelExecution(cloud.ports, execution.id);
  });
});
