import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import { eventLine, runLines } from "../../../packages/cli/src/run/lines.ts";
import { traceOf } from "../support/trace-of.ts";

it.each([
  [{ node: "read", state: "succeeded", message: "reused" }, "  ✓ read  reused"],
  [{ node: "read", state: "started" }, "  · read"],
  [{ node: "each", state: "succeeded", count: 1 }, "  » each  1 item"],
  [{ node: "inner", state: "succeeded", items: [2], count: 7 }, "  » inner  7 items  item 2"],
  [{ node: "read", state: "succeeded", items: [17] }, "  ✓ read  item 17"],
  [{ node: "read", state: "failed", items: [17, 0] }, "  ✗ read  item 17, 0"],
  [{ node: "ask", state: "waiting", items: [2] }, "  … ask waits  item 2"],
  [
    {
      node: "call",
      state: "retrying",
      items: [2],
      message: 'node "call": attempt 1 failed, attempt 2 begins in 2 s: no',
    },
    '  ↻ node "call": attempt 1 failed, attempt 2 begins in 2 s: no  item 2',
  ],
] as const)("eventLine shows the event %j in one line", (event, line) => {
  const { items, ...rest } = { items: undefined, ...event };
  expect(stripVTControlCharacters(eventLine({ ...rest, ...(items && { items: [...items] }) }))).toBe(line);
});

it.each([
  [
    { cost_usd: 0.0175, tokens_input: 5000, tokens_cached: 0, tokens_output: 500 },
    ["  models: $0.0175, 5000 tokens in, 500 out"],
  ],
  [null, []],
])("runLines shows the cost of models if the run used models: %j", (spent, lines) => {
  const counters = { aws_calls: { dynamodb: 1, s3: 0, states: 1 }, sandbox_calls: 1, bytes_stored: 0 };
  const ran = { ...traceOf([], { spent, path: ["start"] }), counters };
  const told = runLines(ran).map(stripVTControlCharacters);
  expect(told.filter((line) => line.includes("models"))).toEqual(lines);
});

it("runLines prints the name of a node that ran several times in a row only once, with the number of runs", () => {
  const path = ["start", "each", "check", "check", "check", "report", "end"];
  const ran = { ...traceOf([], { path }), counters: null };
  expect(stripVTControlCharacters(runLines(ran)[1] ?? "")).toBe("  start → each → check x 3 → report → end");
});
