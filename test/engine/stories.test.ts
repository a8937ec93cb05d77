import { describe, expect, it } from "vitest";
import { action, flow } from "../support/engine/flows.ts";
import { Story, wellTold } from "../support/engine/story.ts";

const one = flow(
  "one",
  [action("a")],
  [
    ["start", "a"],
    ["a", "end"],
  ],
);
const repeatable = flow(
  "repeatable",
  [action("a", { effects: false, retry: { attempts: 3, delaySeconds: 5 } }), action("b", { isolation: "fresh" })],
  [
    ["start", "a"],
    ["a", "b"],
    ["b", "end"],
  ],
);
const rescued = flow(
  "rescued",
  [action("a", { onError: "r" }), action("b"), action("r")],
  [
    ["start", "a"],
    ["a", "b"],
    ["b", "end"],
    ["r", "end"],
  ],
);

describe("the engine, in cases that random tests once found,", () => {
  it("kills a second attempt before the next node starts if the result of the first attempt is committed", async () => {
    const story = await new Story(repeatable).start();
    const first = story.deliver("a", 0);
    await story.until(first, "entry 1");
    story.world.sandboxes.kill("S1");
    story.codeStopsAt = "finish";
    await story.finish(story.deliver("a", 0));
    expect(story.begun).toHaveLength(2);
    expect(await story.finish(first)).toMatchObject({ seq: 1 });
    await story.finish(story.deliver("b", 1));
    expect(story.begun).toHaveLength(3);
    wellTold(story);
  });

  it("does not fail a node if the lost sandbox is not the sandbox in the turn of the node", async () => {
    const story = await new Story(one).start();
    const loser = story.deliver("a", 0);
    await story.until(loser, "turn 1");
    const winner = story.deliver("a", 0);
    await story.until(winner, "execute");
    story.world.sandboxes.kill("S1");
    story.codeStopsAt = "finish";
    await story.finish(loser, winner);
    story.codeStopsAt = undefined;
    expect(await story.finish(loser, winner)).toMatchObject({ seq: 1 });
    expect(story.chain).toEqual(["start success", "a success"]);
  });

  it("keeps the sandbox that a turn names if the response to the write of this turn was lost", async () => {
    const story = await new Story(one).start();
    const delivery = story.deliver("a", 0);
    await story.until(delivery, "turn 1");
    await story.perform(delivery, "repeat");
    expect(await story.finish(delivery)).toMatchObject({ seq: 1 });
    expect(story.begun.map(({ box }) => box.id)).toEqual(["S1"]);
  });

  it("writes no failed entry for a node that had not started when the workflow timed out", async () => {
    const story = await new Story(rescued).start();
    await story.finish(story.deliver("a", 0));
    story.world.machines.get(story.id)?.end("timed_out");
    await story.finish(story.sweeper());
    expect(story.chain).toEqual(["start success", "a success", "(close) failed"]);
    expect(story.world.record(story.id).error).toMatchObject({ node: "b", class: "NodeTimeout" });
  });
});

describe("the engine, in rare cases of the protocol,", () => {
  it("gives a node with `isolation: fresh` a new sandbox, and gives the next node the earlier warm sandbox", async () => {
    const fresh = flow(
      "fresh",
      [action("a"), action("b", { isolation: "fresh" }), action("c")],
      [
        ["start", "a"],
        ["a", "b"],
        ["b", "c"],
        ["c", "end"],
      ],
    );
    const story = await new Story(fresh).start();
    await story.finish(story.deliver("a", 0));
    await story.finish(story.deliver("b", 1));
    expect(story.world.sandboxes.alive().map(({ id }) => id)).toEqual(["S1"]);
    await story.finish(story.deliver("c", 2));
    expect(story.begun.map(({ box }) => box.id)).toEqual(["S1", "S2", "S1"]);
  });

  it("writes the failed entry of a node before the close entry, even if the node never got a sandbox", async () => {
    const story = await new Story(one).start();
    await story.finish(story.close(0, { Error: "SandboxUnavailable", Cause: '{"errorMessage":"no capacity"}' }));
    expect(story.chain).toEqual(["start success", "a failed", "(close) failed"]);
    expect(story.world.record(story.id).error).toEqual({
      node: "a",
      class: "SandboxUnavailable",
      message: "no capacity",
    });
  });

  it("reports `ExecutionClosed` to a delivery of the end node if the run was cancelled meanwhile", async () => {
    const story = await new Story(flow("bare", [], [["start", "end"]])).start();
    const end = story.deliver("end", 0);
    await story.until(end, "entry 1");
    const cancel = story.cancel();
    await story.until(cancel, "entry 1");
    await story.perform(end);
    await story.finish(cancel);
    expect(await story.finish(end)).toBe("ExecutionClosed");
    expect(story.chain).toEqual(["start success", "end success", "(close) cancelled"]);
  });

  it.each([
    ["the entry of another node", async (story: Story) => void (await story.finish(story.deliver("a", 0)))],
    ["the turn of another node", (story: Story) => story.until(story.deliver("a", 0), "upload")],
  ])("reports a broken chain if %s is stored at the number of a node's entry", async (_what, prepare) => {
    const story = await new Story(rescued).start();
    await prepare(story);
    if (_what.endsWith("turn")) await story.perform(story.world.scheduler.ready()[0]?.process as never);
    expect(await story.finish(story.deliver("b", 0))).toBe("ChainBroken");
  });

  it("answers a late delivery with the entry on the chain, and runs no code", async () => {
    const story = await new Story(rescued).start();
    await story.everything();
    const before = story.world.scheduler.story.length;
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1 });
    expect(story.world.scheduler.story.slice(before)).toEqual(["run a: read 0.."]);
  });

  it("starts a lost state machine again, but only after half a minute, because an earlier start may still be in progress", async () => {
    const story = await new Story(one).start();
    story.world.machines.clear();
    await story.finish(story.sweeper());
    expect(story.world.machines.size).toBe(0);
    story.world.clock.advance(31_000);
    await story.finish(story.sweeper());
    await story.everything();
    expect(story.world.record(story.id).status).toBe("completed");
  });

  it("sweeps the other executions if the sweep of one execution fails", async () => {
    const story = await new Story(one).start();
    const [damaged] = [story.id];
    await story.start();
    for (const run of story.world.machines.values()) run.end("aborted");
    const link = story.world.chain.at({ execution: damaged as string, scope: "", seq: 0 });
    link.entry = { ...link.entry, head: "{", hash: "", contents: {} };
    expect(await story.finish(story.sweeper())).toMatchObject({
      closed: [story.id],
      failed: [{ id: damaged, reason: expect.stringContaining("SyntaxError") }],
    });
  });
});
