import { stripVTControlCharacters } from "node:util";
import { type NodeAtWork, RawJson, type TraceBranch, type TraceEntry } from "@nova/engine";
import { expect, it } from "vitest";
import { atWorkLines, traceLines } from "../../../packages/cli/src/output/trace.ts";
import type { WaitsFor } from "../../../packages/engine/src/kinds/waiting/waiting-task.ts";
import { traceOf } from "../support/trace-of.ts";

function entry(node_id: string, more: Partial<TraceEntry> = {}): TraceEntry {
  const changes = { set: new RawJson("{}"), delete: [] };
  return {
    execution_id: "exec_1",
    seq: 1,
    scope: "",
    node_id,
    node_type: "action",
    status: "success",
    error_class: null,
    error_message: null,
    traceback: null,
    decision_result: null,
    path_taken: null,
    changes,
    execution_time_ms: 0,
    attempt: 1,
    sandbox_id: null,
    timestamp: "",
    hash: "",
    prev: null,
    code_hash: null,
    ai_metadata: null,
    times: { waiting_ms: 0, sandbox_ms: 0, model_ms: 0, code_ms: 0 },
    steps: [],
    reused_from: null,
    ...more,
  };
}

const branch = (name: string, ...entries: TraceEntry[]): TraceBranch => ({
  branch: name,
  scope: `/f@1.${name}`,
  entries,
});

function told(entries: TraceEntry[], full = false, more: Parameters<typeof traceOf>[1] = {}): string[] {
  return traceLines(traceOf(entries, more), full).map(stripVTControlCharacters);
}

/** Returns the first two columns of the trace's table. */
function table(entries: TraceEntry[], full = false): string[] {
  return told(entries, full)
    .slice(2)
    .map((line) => line.replace(/ +(action|join|map) .*$/, ""));
}

it("the trace shows branches as a tree, each under its name", () => {
  const inner = entry("g", { seq: 1, branches: [branch("x", entry("x"))] });
  const fork = entry("f", { branches: [branch("a", entry("a")), branch("b", inner)] });
  expect(table([fork, entry("f.join", { seq: 2, node_type: "join" })])).toEqual([
    "1  f",
    "   branch a",
    "1    a",
    "   branch b",
    "1    g",
    "     branch x",
    "1      x",
    "2  f.join",
  ]);
});

const items = (count: number, make: (i: number) => TraceEntry[]) =>
  Array.from({ length: count }, (_, i) => branch(String(i), ...make(i)));

it("the trace sums up many items of a map in one line, and shows failed items separately", () => {
  const branches = items(200, (i) => {
    const scope = `/m@1.${i}`;
    const second = i === 20 ? [] : [entry("j", { scope, seq: 2 })];
    return [
      entry("i", {
        scope,
        execution_time_ms: 10,
        path_taken: i === 20 ? null : "j",
        ...(i === 20 && { status: "failed" }),
      }),
      ...second,
    ];
  });
  const shown = told([entry("m", { node_type: "map", branches })]);
  expect(shown.slice(2, 7).map((line) => line.trim().replace(/ {2,}/g, "  "))).toEqual([
    "1  m  map  success",
    "200 items, 1 failed",
    "i x 199  action  success  1.99 s",
    "1  i (item 20)  action  failed  10 ms",
    "j x 199  action  success",
  ]);
});

it("the trace shows how many items of an open map are done", () => {
  const branches = items(200, (i) => (i < 37 ? [entry("i")] : i < 40 ? [entry("i", { path_taken: "j" })] : []));
  expect(table([entry("m", { branches })])).toEqual(["1  m", "   37/200 items done", "     i x 40"]);
});

it("the trace shows at most five items of a map one by one, and all items with --full", () => {
  expect(table([entry("m", { branches: items(5, () => [entry("i")]) })])).toHaveLength(11);
  expect(table([entry("m", { branches: items(30, () => [entry("i")]) })], true)).toHaveLength(61);
});

it("the trace keeps node columns narrow next to long names of branches and items", () => {
  const items = branch(
    "0",
    entry("check", { input_context: new RawJson('{"item":"a long, long value of an item","index":0}') }),
  );
  const map = entry("each", { node_type: "map", branches: [items], output_result: new RawJson("{}") });
  expect(told([map], true)[1]).toMatch(/^ {3}node {5}type/);
});

it("the trace numbers the visits of a loop, and joins many visits in one line with their decisions", () => {
  const round = ["a", "d", "a", "d"].map((id, index) => entry(id, { seq: index + 1 }));
  expect(table(round)).toEqual(["1  a", "2  d", "3  a (2)", "4  d (2)"]);
  const rounds = Array.from({ length: 20 }, (_, i) =>
    entry("d", { seq: i, execution_time_ms: 100, decision_result: i < 19 ? "again" : "done" }),
  );
  expect(told(rounds)[2]).toBe("  d x 20  action  success  2.00 s  again 19, done 1");
  expect(table(rounds, true)).toHaveLength(20);
});

it("the trace with --full shows the changes of each node, not the whole context, and the code of a loop once", () => {
  const changes = { set: new RawJson('{"n":850.0}'), delete: ["old"] };
  const contexts = { input_context: new RawJson('{"big":1}'), output_result: new RawJson('{"big":1,"n":850.0}') };
  const visit = entry("a", { changes, ...contexts, code_executed: "n += 1", logs: "hi\n" });
  const lines = told([visit, { ...visit, seq: 2 }], true)
    .slice(4)
    .join("\n")
    .split("\n");
  const changed = ["changes:", "  n = 850.0", "  old is deleted", "logs:", "  hi"];
  expect(lines).toEqual(["", "1 a", "code:", "  n += 1", ...changed, "", "2 a", "code: as before", ...changed]);
});

it("the trace shows which node comes next if an open run has no open node", () => {
  const start = entry("start", { path_taken: "read", timestamp: "2026-11-23T06:00:00.000Z" });
  const lines = told([start], false, { status: "running" });
  expect(lines[1]).toBe("next read since 2026-11-23T06:00:00.000Z");
});

it("the trace of branches inside an item of a map names the item", () => {
  const given = entry("i", { input_context: new RawJson('{"list":[7],"item":7,"index":0}') });
  const map = entry("m", { branches: [branch("0", given)], output_result: new RawJson('{"list":[7]}') });
  expect(table([map], true)[1]).toBe("   item 0, item = 7");
});

it("the trace shows which nodes are open, what they wait for and until when, and the progress of maps", () => {
  const since = "2026-11-23T06:00:00.000Z";
  const at = { scope: "", seq: 1, since, node_type: null, attempt: 1, waits_for: null };
  const until = "2026-11-24T06:00:00.000Z";
  const asks: WaitsFor = { kind: "approval", until, task_id: "t", message: "Pay\u001b[2J?", choices: ["yes", "no"] };
  const nodes: NodeAtWork[] = [
    { ...at, node_id: "a", attempt: 2, scope: "/m@1.3" },
    { ...at, node_id: "ask", waits_for: asks },
    { ...at, node_id: "pause", waits_for: { kind: "time", until } },
    { ...at, node_id: "call", waits_for: { kind: "workflow", until: null, execution_id: "exec_2" } },
  ];
  const maps = [{ node_id: "m", scope: "", seq: 1, items: 200, done: 37, failed: 2 }];
  const lines = atWorkLines({ count: 34, nodes, maps }, Date.parse(since) + 12_000).map(stripVTControlCharacters);
  expect(lines).toEqual([
    "map m 37/200 items done, 2 failed",
    `working a in /m@1.3 since ${since} (12.00 s), attempt 2`,
    `waits ask since ${since} (12.00 s) for yes or no until ${until}: Pay [2J?`,
    `waits pause since ${since} (12.00 s) until ${until}`,
    `waits call since ${since} (12.00 s) for exec_2`,
    "and 30 more",
  ]);
});

it("the trace shows the source of code and the cost of models only for prompt nodes", () => {
  const ai_metadata = { cache_hit: true, errors: [] } as unknown as TraceEntry["ai_metadata"];
  const spent = { cost_usd: 0.5, tokens_input: 10, tokens_cached: 0, tokens_output: 1 };
  const paid = (entries: TraceEntry[]) => traceLines(traceOf(entries, { spent })).join("\n");
  expect(paid([entry("a", { ai_metadata })])).toMatch(/models: \$0\.5000.*\n.* code .*\n.*pinned, no model used/);
  expect(paid([entry("a")])).not.toContain("code");
});

it("the trace adds up the cost of models if one line shows many visits of a node", () => {
  const written = (cache_hit: boolean) => ({ cache_hit, errors: [], attempts: 2, model: "m", cost_usd: 0.01 });
  const visits = Array.from({ length: 12 }, (_, i) => entry("a", { ai_metadata: written(i < 2) as never }));
  expect(told(visits)[2]).toMatch(/a x 12 .* 2 pinned, 20 attempts, \$0\.1200/);
});

it("the trace of a restart shows which entries are reused, and their source", () => {
  const reused = (id: string) => ({ reused_from: { execution_id: id, scope: "", seq: 1 } });
  const items = [0, 1, 2, 3, 4, 5, 6].map((n) =>
    branch(String(n), entry("a", n < 5 ? reused("exec_0") : { execution_time_ms: 7 })),
  );
  const entries = [entry("find", reused("exec_x")), entry("each", { ...reused("exec_0"), branches: items })];
  const lines = told(entries, false, { restarted_from: "exec_0", restarts: ["exec_2"] });
  expect(lines.slice(1, 3)).toEqual([
    "restarted from exec_0: 1 entry is reused from exec_x, 6 entries are reused",
    "restarted as exec_2",
  ]);
  expect(lines.join("\n")).toMatch(/find +action +success +reused\n[\s\S]* a x 7 +action +success +14 ms, 5 reused/);
});

it("a trace shows the conversation of an agent with the question, the answers, the calls and their results", () => {
  const step = { model_used: "gpt-5.1", tokens_input: 1000, tokens_output: 100, cost_usd: 0.01, tool_calls: [] };
  const set = (json: string) => ({ changes: { set: new RawJson(json), delete: [] } });
  const calls = [
    { id: "1", name: "pay", arguments: "{}", refused: '{"error":"not run"}' },
    { id: "2", name: "look_up", arguments: '{"id":7}' },
  ];
  const asking = entry("g", {
    node_type: "agent",
    ai_metadata: {
      processed_prompt: "Resolve order 7.",
      errors: [],
      model: "gpt-5.1",
      attempts: 1,
      cost_usd: 0,
    } as never,
    steps: [step as never],
    reply: { text: "I look it up.", calls },
    branches: [branch("0", entry("look_up", set('{"total":850.0}')))],
  });
  const text = told([asking, entry("g", { node_type: "agent", ...set('{"g":"It is 850."}') })]).join("\n");
  const lines = [
    "asked:",
    "  Resolve order 7.",
    "gpt-5.1: 1000 tokens in, 100 out, $0.0100",
    "says:",
    "  I look it up.",
  ];
  const ran = ["calls pay({})", '  {"error":"not run"}', 'calls look_up({"id":7}) in /f@1.0', '  {"total":850.0}'];
  expect(text).toContain([...lines, ...ran].join("\n"));
  expect(text).toContain('says:\n  {"g":"It is 850."}');
});
