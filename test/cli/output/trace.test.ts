import { stripVTControlCharacters } from "node:util";
import { RawJson, type Trace, type TraceBranch, type TraceEntry } from "@nova/engine";
import { expect, it } from "vitest";
import { traceLines } from "../../../packages/cli/src/output/trace.ts";

function entry(node_id: string, more: Partial<TraceEntry> = {}): TraceEntry {
  const changes = { set: new RawJson("{}"), delete: [] };
  return {
    ...{ seq: 1, scope: "", node_id, node_type: "action", status: "success", error_class: null, error_message: null },
    ...{ traceback: null, decision_result: null, path_taken: null, changes, execution_time_ms: 0, attempt: 1 },
    ...{ sandbox_id: null, timestamp: "", hash: "", prev: null, code_hash: null, ai_metadata: null, steps: [] },
    ...more,
  };
}

const branch = (name: string, ...entries: TraceEntry[]): TraceBranch => ({
  branch: name,
  scope: `/f@1.${name}`,
  entries,
});

/** The table's first two columns, without what stands around it. */
function table(entries: TraceEntry[]): string[] {
  const execution = { id: "exec_1", workflowId: "w", version: 1, status: "completed", startedAt: "now" };
  const lines = traceLines({ execution, entries, path: [], context: new RawJson("{}") } as unknown as Trace);
  return lines.slice(2).map((line) => stripVTControlCharacters(line).replace(/ +(action|join|map) .*$/, ""));
}

it("draws branches as a tree, each under its name", () => {
  const inner = entry("g", { seq: 1, branches: [branch("x", entry("x"))] });
  const fork = entry("f", { branches: [branch("a", entry("a")), branch("b", inner)] });
  expect(table([fork, entry("f.join", { seq: 2, node_type: "join" })])).toEqual([
    ...["1  f", "   branch a", "1    a", "   branch b", "1    g", "     branch x", "1      x", "2  f.join"],
  ]);
});

it("shows of many items the first five, those that failed, and how many there are", () => {
  const items = Array.from({ length: 25 }, (_, i) =>
    branch(String(i), entry("i", i === 20 ? { status: "failed" } : {})),
  );
  const shown = table([entry("m", { node_type: "map", branches: items })]);
  const titles = shown.filter((line) => line.includes("item"));
  expect(titles.map((line) => line.trim())).toEqual([
    ...["item 0", "item 1", "item 2", "item 3", "item 4", "item 20", "25 items, 1 failed; 6 are shown"],
  ]);
});

it("shows twenty items whole", () => {
  const items = Array.from({ length: 20 }, (_, i) => branch(String(i), entry("i")));
  expect(table([entry("m", { branches: items })])).toHaveLength(41);
});

it("numbers the visits of a loop", () => {
  const round = ["a", "d", "a", "d"].map((id, index) => entry(id, { seq: index + 1 }));
  expect(table(round)).toEqual(["1  a", "2  d", "3  a (2)", "4  d (2)"]);
});

it("says of prompt nodes where their code is from, and what models have cost, only where there are some", () => {
  const ai_metadata = { cache_hit: true, errors: [] } as unknown as TraceEntry["ai_metadata"];
  const spent = { cost_usd: 0.5, tokens_input: 10, tokens_cached: 0, tokens_output: 1 };
  const execution = { id: "exec_1", workflowId: "w", version: 1, status: "completed", startedAt: "now", spent };
  const trace = { execution, path: [], context: new RawJson("{}") };
  const told = (entries: TraceEntry[]) => traceLines({ ...trace, entries } as unknown as Trace).join("\n");
  expect(told([entry("a", { ai_metadata })])).toMatch(/models: \$0\.5000.*\n.* code .*\n.*pinned, no model asked/);
  expect(told([entry("a")])).not.toContain("code");
});
