import type { NovaClient } from "@nova/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openClient } from "../../../packages/cli/src/api/ask.ts";
import type { Recorded } from "../../../packages/cli/src/api/recorded.ts";
import { latestRuns, runsOfExecution } from "../../../packages/cli/src/lock/plan.ts";
import { inARow, openTestCloud, type TestCloud } from "../../support/cloud.ts";

let cloud: TestCloud;
let nova: NovaClient;
const ids: string[] = [];
const all = { max: 100, full: true };

beforeAll(async () => {
  cloud = await openTestCloud();
  nova = await openClient(cloud);
  const item = { id: "double", type: "action", code: 'context["twice"] = context["item"] * 2' };
  const each = { type: "map", items: "list", into: "results", nodes: [item], edges: [] };
  const version = await cloud.publish(inARow("bills", { first: 'context["list"] = [1, 2]', each }));
  for (let run = 0; run < 2; run++) ids.push((await cloud.run(version)).execution.id);
  await cloud.run(await cloud.publish(inARow("other", { first: "a = 1" })));
});
afterAll(() => cloud.close());

function place({ execution, entry }: Recorded): string {
  return `${ids.indexOf(execution.id)} ${entry.node_id}${entry.scope}`;
}

it("latestRuns yields the runs of nodes in the latest executions, newest first, with the runs in items of maps", async () => {
  const runs = await Array.fromAsync(latestRuns(nova, "bills", all));
  const places = runs.map(place).filter((one) => /first|double/.test(one));
  const once = ["double/each@2.1", "double/each@2.0", "first"];
  expect(places).toEqual([...once.map((one) => `1 ${one}`), ...once.map((one) => `0 ${one}`)]);
});

it("latestRuns reads no more executions than its limit", async () => {
  const runs = await Array.fromAsync(latestRuns(nova, "bills", { max: 1, full: false }));
  expect(new Set(runs.map(({ execution }) => ids.indexOf(execution.id)))).toEqual(new Set([1]));
  expect(runs.every(({ entry }) => entry.input_context === undefined)).toBe(true);
});

it("latestRuns yields the inputs of each run of a node, and the entries before it", async () => {
  const [run] = (await Array.fromAsync(runsOfExecution(nova, "bills", ids[0] ?? ""))).filter(
    ({ entry }) => entry.node_id === "double",
  );
  expect(JSON.parse(run?.entry.input_context?.text ?? "")).toMatchObject({ item: 2, index: 1, list: [1, 2] });
  expect(run?.before.map(({ node_id }) => node_id)).toEqual(["start", "first", "each"]);
});

it("runsOfExecution refuses an execution of another workflow, and an unknown execution", async () => {
  const { value } = await latestRuns(nova, "other", all).next();
  const strange = runsOfExecution(nova, "bills", (value as Recorded).execution.id);
  await expect(strange.next()).rejects.toThrow(/ran the workflow "other", not "bills"/);
  await expect(runsOfExecution(nova, "bills", "exec_none").next()).rejects.toThrow(/no execution "exec_none"/);
});
