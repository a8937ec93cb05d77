import { RawJson, type TraceEntry } from "@nova/engine";
import { expect, it } from "vitest";
import { outputsAfter } from "../../../packages/cli/src/lock/outputs.ts";

function entry(node_id: string, set: string, fields: object = {}): TraceEntry {
  const changes = { set: new RawJson(set), delete: [] };
  return { node_id, node_type: "action", status: "success", changes, ...fields } as unknown as TraceEntry;
}

const inBranches = (...branches: TraceEntry[][]) => ({
  branches: branches.map((entries, index) => ({ branch: String(index), scope: `/f@1.${index}`, entries })),
});

it("are what each node set last, failed ones and the close left out", () => {
  const entries = [
    entry("a", '{"n":1}'),
    entry("b", '{"n":2}', { status: "failed" }),
    entry("a", '{"n":3}'),
    entry("close", "{}", { node_type: "close" }),
  ];
  expect(Object.fromEntries(outputsAfter(entries))).toEqual({ a: '{"n":3}' });
});

it("are those of parallel branches once they are joined", () => {
  const fork = entry("fork", "{}", inBranches([entry("left", '{"l":1}')], [entry("right", '{"r":1}')]));
  expect([...outputsAfter([fork]).keys()]).toEqual(["fork"]);
  const joined = outputsAfter([fork, entry("fork.join", "{}", { node_type: "join" })]);
  expect(Object.fromEntries(joined)).toEqual({ fork: "{}", left: '{"l":1}', right: '{"r":1}' });
});

it("are the list of a map, not what its items set", () => {
  const map = entry("each", "{}", { node_type: "map", ...inBranches([entry("item", '{"i":1}')]) });
  const joined = outputsAfter([map, entry("each.join", '{"results":[1]}', { node_type: "join" })]);
  expect(Object.fromEntries(joined)).toEqual({ each: '{"results":[1]}' });
});
