import { executionEnded, interruptedError, type StateMachineRun, sweep, sweepRuns, sweepTasks } from "@nova/engine";
import { describe, expect, it, vi } from "vitest";
import { action, flow, lines } from "../../support/engine/flows.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { fails, Story } from "../../support/engine/story.ts";
import { Asked, asking } from "../../support/engine/waiting.ts";

const one = flow("one", [action("a")], lines("start > a > end"));

it.each<[string, Partial<StateMachineRun> & { error?: string; cause?: string }, string, object | undefined]>([
  [
    "timed out",
    { status: "timed_out" },
    "failed",
    { class: "NodeTimeout", message: expect.stringContaining("longer than its timeout") },
  ],
  ["lost its process", { status: "aborted", error: interruptedError }, "interrupted", { class: "NodeInterrupted" }],
  ["was stopped by hand", { status: "aborted" }, "cancelled", { class: "ExecutionClosed" }],
  [
    "failed",
    { status: "failed", error: "States.Runtime", cause: "no such path" },
    "failed",
    { class: "NodeInterrupted", message: "States.Runtime: no such path" },
  ],
])("a sweep closes a run whose state machine %s", async (_how, { status, error, cause }, recorded, expected) => {
  const story = await new Story(one).start();
  const machine = story.world.machines.get(story.id);
  machine?.process.kill();
  if (machine && status)
    Object.assign(machine, { status, ...(error && { error: { Error: error, Cause: cause ?? "" } }) });
  expect(await story.finish(story.sweeper())).toMatchObject({ closed: [story.id] });
  expect(story.world.record(story.id)).toMatchObject({ status: recorded, open: false, error: expected });
  expect(story.world.events.published).toMatchObject([{ type: "execution.failed", detail: { status: recorded } }]);
  expect(await story.finish(story.sweeper())).toMatchObject({ closed: [], restarted: [], failed: [] });
});

const rescued = flow("rescued", [action("a", { onError: "r" }), action("r")], lines("start > a > end", "r > end"));

describe("the record of an interrupted run", () => {
  const interrupt = async (story: Story) => {
    story.world.machines.get(story.id)?.end("aborted", { Error: interruptedError, Cause: "" });
    await story.finish(story.sweeper());
    return story.world.record(story.id)?.error;
  };

  it("names the node that was running, not the node of its onError", async () => {
    const story = await new Story(rescued).start();
    story.codeStopsAt = "finish";
    const running = story.deliver("a", 0);
    await story.until(running, "execute");
    await story.perform(running);
    running.kill();
    expect(await interrupt(story)).toMatchObject({ node: "a", class: "NodeInterrupted" });
  });

  it("names an onError node if that node was the next node to run", async () => {
    const story = await new Story(rescued, { a: [fails("no total")] }).start();
    await story.finish(story.deliver("a", 0)).catch(() => undefined);
    await story.finish(story.settle("a", 0));
    expect(await interrupt(story)).toMatchObject({ node: "r", class: "NodeInterrupted" });
  });
});

it("a sweep does not change a run whose state machine is running", async () => {
  const story = await new Story(one).start();
  expect(await story.finish(story.sweeper())).toMatchObject({ closed: [], restarted: [], failed: [] });
  expect(story.chain).toEqual(["start success"]);
});

it("a sweep lists the running executions, and calls DescribeExecution only for an execution that is missing in the list", async () => {
  const story = await new Story(one).start();
  await expect(story.until(story.sweeper(), "DescribeExecution")).rejects.toThrow("never comes to");
  story.world.machines.get(story.id)?.end("aborted");
  await story.until(story.sweeper(), "DescribeExecution");
});

it("a sweep does not close a run that started during the sweep", async () => {
  const story = await new Story(one).start();
  story.world.machines.get(story.id)?.end("aborted");
  const record = story.world.record(story.id);
  const later = story.world.clock.iso(story.world.clock.now + 1);
  story.world.executions.records.set(story.id, { ...record, startedAt: later });
  expect(await sweep(story.world.ports(atOnce))).toMatchObject({ closed: [], failed: [] });
  story.world.executions.records.set(story.id, record);
  expect(await sweep(story.world.ports(atOnce))).toMatchObject({ closed: [story.id] });
});

it("a sweep that stops before it has read all open runs does not end the tasks of the runs that it has not read", async () => {
  const story = await new Asked(asking()).begin();
  await story.finish(story.request());
  story.world.clock.advance(120_000);
  const cutShort = { aborted: true };
  const ports = story.world.ports(atOnce);
  const { open } = await sweepRuns(ports, cutShort);
  expect(open).toBeUndefined();
  const read = vi.spyOn(ports.chain, "read");
  await sweepTasks(ports, open);
  expect(read).toHaveBeenCalledTimes(0);
  await sweepTasks(ports, new Set());
  expect(read).toHaveBeenCalledTimes(1);
  await sweepTasks(ports, new Set(), cutShort);
  expect(read).toHaveBeenCalledTimes(1);
});

it("a sweep leaves a waiting run open while the list of executions contains it, and closes it otherwise", async () => {
  const story = await new Asked(asking()).begin();
  await story.finish(story.request());
  await expect(story.until(story.sweeper(), "DescribeExecution")).rejects.toThrow("never comes to");
  story.world.machines.get(story.id)?.end("aborted");
  expect(await story.finish(story.sweeper())).toMatchObject({ closed: [story.id] });
});

it("a sweep closes no further run when its time is over, and leaves the remaining open runs to the next sweep", async () => {
  const story = await new Story(one).start();
  story.world.machines.get(story.id)?.end("aborted");
  const ports = story.world.ports(atOnce);
  expect(await sweep(ports, AbortSignal.abort())).toMatchObject({ closed: [], failed: [], tasks: { expired: [] } });
  expect(await sweep(ports)).toMatchObject({ closed: [story.id] });
});

it("a status event of a state machine closes the run that is still open, and is ignored if the run is unknown", async () => {
  const story = await new Story(one).start();
  story.world.machines.get(story.id)?.end("aborted");
  await executionEnded(story.world.ports(atOnce), story.id);
  await executionEnded(story.world.ports(atOnce), "exec_of_somebody_else");
  expect(story.world.record(story.id).status).toBe("cancelled");
});
