import { stripVTControlCharacters } from "node:util";
import type { TraceEntry, TraceStep } from "@nova/engine";
import { expect, it } from "vitest";
import { attemptLines, logItem, logLines } from "../../../packages/cli/src/output/logs.ts";

const attempt = (attempt_number: number, more: Partial<TraceStep> = {}) => ({
  agent_name: "E2BExecutor",
  attempt_number,
  error_class: "NodeFailed",
  error_message: `no ${attempt_number}`,
  execution_time_ms: 12,
  logs: `asking ${attempt_number}\n`,
  ...more,
});

function entryWith(steps: object[], more: object = {}): TraceEntry {
  const entry = {
    seq: 1,
    scope: "",
    node_id: "call",
    status: "success",
    attempt: 3,
    logs: "done\n",
    ai_metadata: null,
  };
  return { ...entry, error_class: null, error_message: null, traceback: null, steps, ...more } as unknown as TraceEntry;
}

const told = (lines: string[]) => lines.map(stripVTControlCharacters);
const twice = [
  attempt(1, { retry_delay_ms: 2000 }),
  attempt(2, { traceback: "line 3", retry_delay_ms: 4000, retry_jitter: true }),
];

it("a trace has a line for each attempt before the last attempt", () => {
  expect(told(attemptLines(entryWith(twice, { failed_deliveries: 2 })))).toEqual([
    "2 deliveries ended before its code started: no sandbox was available, or their Lambda died",
    "attempt 1 (12 ms, the next in 2 s): NodeFailed: no 1",
    "attempt 2 (12 ms, the next within 4 s): NodeFailed: no 2",
  ]);
});

it("a trace shows a failed last attempt once, as the failure of the node itself", () => {
  const failed = { status: "failed", attempt: 2, error_message: "no 2", error_class: "NodeFailed" };
  expect(told(attemptLines(entryWith(twice, failed)))).toEqual([expect.stringContaining("attempt 1")]);
});

it("a trace shows the attempts of a prompt node without the calls of its models", () => {
  const steps = [attempt(1), attempt(1, { agent_name: "Node" }), attempt(1), attempt(2)];
  expect(attemptLines(entryWith(steps, { ai_metadata: {} }))).toHaveLength(1);
});

it("the logs of a node contain the output of each of its attempts", () => {
  expect(told(logLines(entryWith(twice)))).toEqual([
    "1 call",
    "  attempt 1",
    "  asking 1",
    "  NodeFailed: no 1",
    "  attempt 2",
    "  asking 2",
    "  NodeFailed: no 2",
    "  line 3",
    "  attempt 3",
    "  done",
  ]);
  expect(logItem(entryWith(twice)).attempts).toEqual([
    { attempt: 1, logs: "asking 1\n", error_class: "NodeFailed", error_message: "no 1", traceback: null },
    { attempt: 2, logs: "asking 2\n", error_class: "NodeFailed", error_message: "no 2", traceback: "line 3" },
  ]);
});
