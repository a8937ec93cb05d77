import type { NovaClient } from "@nova/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { clientOf } from "../../../packages/cli/src/api/ask.ts";
import { latestRuns, runsOf } from "../../../packages/cli/src/lock/recorded.ts";
import type { Recorded } from "../../../packages/cli/src/replay/recorded.ts";
import { inARow, openTestCloud, type TestCloud } from "../../support/cloud.ts";

let cloud: TestCloud;
let nova: NovaClient;
const ids: string[] = [];
const all = { max: 100, full: true };

beforeAll(async () => {
  cloud = await openTestCloud();
  nova = await clientOf(cloud);
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

it("tells what nodes did in the latest executions of a workflow, newest first, items of maps too", async () => {
  const runs = await Array.fromAsync(latestRuns(nova, "bills", all));
  const places = runs.map(place).filter((one) => /first|double/.test(one));
  const once = ["double/each@2.1", "double/each@2.0", "first"];
  expect(places).toEqual([...once.map((one) => `1 ${one}`), ...once.map((one) => `0 ${one}`)]);
});

it("reads no more executions than it is told", async () => {
  const runs = await Array.fromAsync(latestRuns(nova, "bills", { max: 1, full: false }));
  expect(new Set(runs.map(({ execution }) => ids.indexOf(execution.id)))).toEqual(new Set([1]));
  expect(runs.every(({ entry }) => entry.input_context === undefined)).toBe(true);
});

it("tells the inputs, and what ran before", async () => {
  const [run] = (await Array.fromAsync(runsOf(nova, "bills", ids[0] ?? ""))).filter(
    ({ entry }) => entry.node_id === "double",
  );
  expect(JSON.parse(run?.entry.input_context?.text ?? "")).toMatchObject({ item: 2, index: 1, list: [1, 2] });
  expect(run?.before.map(({ node_id }) => node_id)).toEqual(["start", "first", "each"]);
});

it("refuses an execution of another workflow, and one that there is not", async () => {
  const { value } = await latestRuns(nova, "other", all).next();
  const strange = runsOf(nova, "bills", (value as Recorded).execution.id);
  await expect(strange.next()).rejects.toThrow(/ran the workflow "other", not "bills"/);
  await expect(runsOf(nova, "bills", "exec_none").next()).rejects.toThrow(/no execution "exec_none"/);
});
