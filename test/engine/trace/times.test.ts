import { readTrace } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { timesOf } from "../../../packages/engine/src/trace/times.ts";
import { action, flow, lines } from "../../support/engine/flows.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { fails, Story, succeeds } from "../../support/engine/story.ts";

const head = { attempt: 1, execution_time_ms: 40, code: "c" };
const none = { waiting_ms: 0, sandbox_ms: 0, model_ms: 0, code_ms: 0 };
const recorded = { waiting_ms: 5, sandbox_ms: 7 };

function step(agent_name: string, execution_time_ms: number, more: object = {}) {
  return { step_number: 9, step_name: "s", agent_name, model_used: null, execution_time_ms, ...more };
}

describe("the times of an entry", () => {
  it("are the times that its turn measured, and the time of its code", () => {
    expect(timesOf({ ...head, times: recorded }, [], false)).toEqual({ ...recorded, model_ms: 0, code_ms: 40 });
  });

  it("are 0 for an entry without code and without times of a turn", () => {
    expect(timesOf({ ...head, code: null }, [], false)).toEqual(none);
  });

  it("are 0 for an outcome that is reused or written by hand", () => {
    const reused_from = { execution: "exec_0", scope: "", seq: 1, hash: "h" };
    expect(timesOf({ ...head, times: recorded, reused_from }, [], false)).toEqual(none);
    expect(timesOf({ ...head, times: recorded, edited: { by: "ada", at: "now" } }, [], false)).toEqual(none);
  });

  it("include the code of failed attempts, and include the last attempt only once", () => {
    const first = step("E2BExecutor", 10, { step_number: 1 });
    const second = step("E2BExecutor", 40, { step_number: 2 });
    expect(timesOf({ ...head, attempt: 2 }, [first], false).code_ms).toBe(50);
    expect(timesOf({ ...head, attempt: 2 }, [first, second], false).code_ms).toBe(50);
  });

  it("divide the steps of a prompt node between its models and its code", () => {
    const steps = [
      step("InputAnalyzer", 100, { model_used: "m" }),
      step("DataAnalyzer", 300, { model_used: "m", run_time_ms: 50 }),
      step("E2BExecutor", 20),
      step("Node", 9_999, { step_name: "node_attempt" }),
    ];
    expect(timesOf({ ...head, execution_time_ms: 420 }, steps, true)).toEqual({ ...none, model_ms: 350, code_ms: 70 });
  });

  it("include the run of pinned code, which is no step", () => {
    expect(timesOf({ ...head, cache_hit: true }, [], true)).toEqual({ ...none, code_ms: 40 });
  });
});

it("the waiting time of a node in the trace is the time before its first attempt and between its attempts", async () => {
  const retry = { attempts: 2, delaySeconds: 10 };
  const flows = flow("slow", [action("a", { retry }), action("b")], lines("start > a > b > end"));
  const story = await new Story(flows, { a: [fails("one"), succeeds("a", "1")] }).start();
  story.world.clock.advance(3_000);
  await story.everything();
  const { entries } = await readTrace(story.world.ports(atOnce), story.id);
  const [a, b] = ["a", "b"].map((id) => entries.find(({ node_id }) => node_id === id)?.times);
  expect(a).toMatchObject({ waiting_ms: expect.toSatisfy((ms) => ms >= 13_000 && ms < 14_000), code_ms: 2 });
  expect(b).toMatchObject({ waiting_ms: expect.toSatisfy((ms) => ms < 1_000) });
});
