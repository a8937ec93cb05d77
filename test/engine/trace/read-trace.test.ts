import { ExecutionNotFound, readTrace, renderJson } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { action, decision, flow } from "../../support/engine/flows.ts";
import type { Script } from "../../support/engine/harness.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { Story, succeeds } from "../../support/engine/story.ts";

const workflow = flow(
  "traced",
  [decision("d"), action("a", { onError: "r", effects: false, retry: { attempts: 2, delaySeconds: 0 } }), action("r")],
  [
    ["start", "d"],
    ["d", "a", true],
    ["d", "end", "default"],
    ["a", "end"],
    ["r", "end"],
  ],
);
const broken: Script = {
  result: {
    status: "error",
    class: "NodeFailed",
    message: "no total",
    traceback: "line 3",
    logs: "looking",
    durationMs: 7,
  },
};
const asJson = (value: unknown) => JSON.parse(renderJson(value));

async function failedTrace(full: boolean) {
  const scripts = { d: [succeeds("branch_decision", "true")], a: [broken], r: [succeeds("r", "850.0")] };
  const story = await new Story(workflow, scripts).start('{"n":12345678901234567890}');
  await story.everything();
  return { story, trace: await readTrace(story.world.ports(atOnce), story.id, { full }) };
}

it("every entry names its execution", async () => {
  const { story, trace } = await failedTrace(false);
  expect(trace.entries.map(({ execution_id }) => execution_id)).toEqual(trace.entries.map(() => story.id));
});

it("a stored value that is not valid JSON appears as a text, and cannot break the JSON around it", async () => {
  const evil = '1}, "status": "completed", "client": "another", "x": {"y": 1';
  const way: [string, string][] = [
    ["start", "a"],
    ["a", "end"],
  ];
  const story = await new Story(flow("spliced", [action("a")], way), { a: [succeeds("a", evil)] }).start("{}");
  await story.everything();
  const told = asJson(await readTrace(story.world.ports(atOnce), story.id, { full: true }));
  expect(told.entries[1]).toMatchObject({ changes: { set: { a: evil } }, output_result: { a: evil } });
  expect(told.context).toEqual({ a: evil });
});

describe("the chain of work", () => {
  it("lists the resolved addresses of hosts on other ports than the web's, and none of this machine", async () => {
    const allow = ["db.example.com:5432", "web.example.com:443", "localhost:3720"];
    const asks = { ...action("a"), executor: { kind: "code" as const, code: "pass", allow } };
    const arrows: [string, string][] = [
      ["start", "a"],
      ["a", "end"],
    ];
    const story = await new Story(flow("asking", [asks], arrows), { a: [succeeds("a", "1")] }).start("{}");
    await story.everything();
    const { entries } = await readTrace(story.world.ports(atOnce), story.id);
    const told = entries.map(({ resolved_hosts }) => resolved_hosts);
    expect(told).toEqual([undefined, { "db.example.com": ["address of db.example.com"] }, undefined, undefined]);
  });

  it("has one entry per node with public names", async () => {
    const { trace } = await failedTrace(false);
    expect(trace.path).toEqual(["start", "d", "a", "r", "end"]);
    expect(trace.execution.status).toBe("completed");
    const [, d, a, r, , close] = trace.entries;
    expect(d).toMatchObject({ node_type: "decision", decision_result: "true", path_taken: "a", status: "success" });
    expect(a).toMatchObject({
      status: "failed",
      error_class: "NodeFailed",
      error_message: "no total",
      traceback: "line 3",
      path_taken: "r",
      attempt: 2,
      execution_time_ms: 7,
    });
    expect(asJson(a?.steps)).toMatchObject([
      { format: 1, attempt_number: 1, status: "failed", error_message: "no total", logs: "looking" },
      { format: 1, attempt_number: 2, status: "failed", error_class: "NodeFailed" },
    ]);
    expect(renderJson(r?.changes)).toBe('{"set":{"r":850.0},"delete":[]}');
    expect(close).toMatchObject({ node_type: "close", status: "success", prev: trace.entries[4]?.hash });
    expect(a).not.toHaveProperty("input_context");
  });

  it("ends with the final context, with all digits", async () => {
    const { trace } = await failedTrace(false);
    expect(trace.context.text).toBe('{"n":12345678901234567890,"branch_decision":true,"r":850.0}');
  });

  it("includes code, logs, input and output in full", async () => {
    const { trace } = await failedTrace(true);
    const [, , a, r] = trace.entries;
    expect(a).toMatchObject({ code_executed: "# a", logs: "looking" });
    expect(a?.input_context?.text).toBe('{"n":12345678901234567890,"branch_decision":true}');
    expect(asJson(r?.input_context).error).toEqual({
      node: "a",
      class: "NodeFailed",
      message: "no total",
      traceback: "line 3",
    });
    expect(asJson(r?.output_result)).not.toHaveProperty("error");
  });

  it("shows null for erased contents", async () => {
    const { story } = await failedTrace(false);
    const link = story.world.chain.at({ execution: story.id, scope: "", seq: 2 });
    if (link.entry) link.entry = { ...link.entry, contents: {} };
    const trace = await readTrace(story.world.ports(atOnce), story.id, { full: true });
    expect(trace.entries[2]).toMatchObject({ output_result: null, logs: null, code_executed: "# a" });
    expect(trace.path).toHaveLength(5);
  });

  it("is missing for an unknown id", async () => {
    const { story } = await failedTrace(false);
    await expect(readTrace(story.world.ports(atOnce), "exec_x")).rejects.toThrow(ExecutionNotFound);
  });
});
