import { type Ports, RawJson, type RunOutcome, type SandboxSpec, type TraceEntry } from "@nova/engine";
import { expect, it } from "vitest";
import type { Recorded } from "../../../packages/cli/src/replay/recorded.ts";
import { outputsAfter, type Tried, tryRuns } from "../../../packages/cli/src/replay/trial.ts";

it("run in one sandbox as long as that lives, and in another one then", async () => {
  const calls: string[] = [];
  const sandboxes = {
    async create({ lifetimeSeconds }: SandboxSpec) {
      calls.push(`create for ${lifetimeSeconds} s`);
      // Its whole life was not to be had.
      return { id: "sbx", endsAt: new Date(Date.now() + (lifetimeSeconds === 3600 ? 420_000 : 1)).toISOString() };
    },
    async run(): Promise<RunOutcome> {
      calls.push("run");
      return { kind: "finished", result: { status: "success", set: [], delete: [], logs: "", durationMs: 1 } };
    },
    kill: async () => void calls.push("kill"),
  } as unknown as Ports["sandboxes"];
  const trial = { blobOf: async () => null, sandboxes, template: "nova", signal: new AbortController().signal };
  const run = (timeoutSeconds: number) =>
    ({
      node: { id: "a", type: "action", executor: { kind: "code", code: "" }, timeoutSeconds },
      version: { workflow: { lib: {} } },
      recorded: {
        execution: { id: "exec_1" },
        entry: entry("a", "{}", { scope: "" }),
        before: [],
        ...{ place: "a", origin: { execution: "exec_1", place: "a" } },
      } as unknown as Recorded,
      locked: { code: "a = 1" },
    }) as unknown as Tried;
  await Array.fromAsync(tryRuns([run(10), run(10), run(3600)], trial));
  expect(calls).toEqual(["create for 3600 s", "run", "run", "kill", "create for 3720 s", "run", "kill"]);
  expect(await Array.fromAsync(tryRuns([], trial))).toEqual([]);
});

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
