import { type Ports, RawJson, type RunOutcome, type SandboxSpec, type TraceEntry } from "@nova/engine";
import { expect, it } from "vitest";
import type { Recorded } from "../../../packages/cli/src/api/recorded.ts";
import { outputsAfter, type TrialInput, tryRuns } from "../../../packages/cli/src/replay/trial.ts";

it("replayed nodes share a sandbox until this sandbox ends, and then use a new sandbox", async () => {
  const calls: string[] = [];
  const sandboxes = {
    async create({ lifetimeSeconds }: SandboxSpec) {
      calls.push(`create for ${lifetimeSeconds} s`);
      // The first sandbox ends after 420 seconds, although the trial requested 3600 seconds.
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
        place: "a",
        origin: { execution: "exec_1", place: "a" },
      } as unknown as Recorded,
      locked: { code: "a = 1" },
    }) as unknown as TrialInput;
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

it("outputsAfter returns the last changes of each node, but nothing of failed nodes or of the closing entry", () => {
  const entries = [
    entry("a", '{"n":1}'),
    entry("b", '{"n":2}', { status: "failed" }),
    entry("a", '{"n":3}'),
    entry("close", "{}", { node_type: "close" }),
  ];
  expect(Object.fromEntries(outputsAfter(entries))).toEqual({ a: '{"n":3}' });
});

it("outputsAfter returns the changes of parallel branches after their join", () => {
  const fork = entry("fork", "{}", inBranches([entry("left", '{"l":1}')], [entry("right", '{"r":1}')]));
  expect([...outputsAfter([fork]).keys()]).toEqual(["fork"]);
  const joined = outputsAfter([fork, entry("fork.join", "{}", { node_type: "join" })]);
  expect(Object.fromEntries(joined)).toEqual({ fork: "{}", left: '{"l":1}', right: '{"r":1}' });
});

it("outputsAfter returns the list of a map, not the changes of its items", () => {
  const map = entry("each", "{}", { node_type: "map", ...inBranches([entry("item", '{"i":1}')]) });
  const joined = outputsAfter([map, entry("each.join", '{"results":[1]}', { node_type: "join" })]);
  expect(Object.fromEntries(joined)).toEqual({ each: '{"results":[1]}' });
});
