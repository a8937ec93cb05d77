import { settleNode } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { headOf } from "../../packages/engine/src/chain/entry.ts";
import { action, decision, flow, lines, mapOver } from "../support/engine/flows.ts";
import { fails, Story, succeeds, wellTold } from "../support/engine/story.ts";
import { approval } from "../support/engine/waiting.ts";

const fork = flow(
  "fork",
  [action("f"), action("a"), action("b"), action("j")],
  lines("start > f > a > j > end", "f > b > j"),
);

describe("a late delivery of a node in a branch, after another branch failed and the run was closed,", () => {
  const error = { Error: "NodeFailed", Cause: "no total" };

  /** Runs the workflow until branch a has failed and the Lambda of b is about to make the given call. */
  async function upTo(call: string, codeStopsAt?: "finish") {
    const story = await new Story(fork, { a: [fails("no total")] }).start();
    await story.finish(story.deliver("f", 0));
    await story.finish(story.deliver("a", 0, { scope: "/f@1.a" }));
    story.codeStopsAt = codeStopsAt;
    const late = story.deliver("b", 0, { scope: "/f@1.b" });
    if (codeStopsAt) await story.finish(late);
    else await story.until(late, call);
    return { story, late };
  }

  async function judge(story: Story) {
    story.codeStopsAt = undefined;
    await story.judge();
    wellTold(story);
    expect(story.chain).toEqual(["start success", "f success", "f.join failed", expect.stringMatching(/^\(close\) /)]);
    expect(await story.verify()).toMatchObject({ state: "anchored" });
  }

  it.each([
    ["never starts its code if it did not take the turn before the close", "turn 1", undefined, "ExecutionClosed", []],
    [
      "returns the entry that the close wrote from the result of the code",
      "entry 1",
      undefined,
      { seq: 1 },
      ["b success"],
    ],
    [
      "reports the close of the run if its code was still running and was killed",
      "",
      "finish" as const,
      "ExecutionClosed",
      ["b failed"],
    ],
  ])("%s", async (_what, call, codeStopsAt, answer, entries) => {
    const { story, late } = await upTo(call, codeStopsAt);
    expect(await story.finish(story.join("f", 1, { error }))).toMatchObject({ failed: true });
    await story.finish(story.close(1, error));
    const answered = await story.finish(late);
    if (typeof answer === "string") expect(answered).toMatch(/^(ExecutionClosed|NodeFailed)$/);
    else expect(answered).toMatchObject(answer);
    expect(story.chainOf("/f@1.b")).toEqual(entries);
    await judge(story);
  });

  it.each(["turn 2", "tip", "turn 1", "entry 1", "entry 2"])(
    "leaves a valid chain even if a second Lambda closes the run just before the join makes its call %s",
    async (call) => {
      const { story, late } = await upTo("entry 1");
      const join = story.join("f", 1, { error });
      await story.until(join, call);
      await story.finish(story.cancel());
      expect(await story.finish(join)).toMatchObject({ failed: true });
      await story.finish(late);
      await judge(story);
    },
  );
});

describe("an approval in a branch, whose timeout ends before the approval is requested,", () => {
  const asking = flow(
    "asking",
    [action("f"), approval("ask"), action("b"), action("j")],
    [...lines("start > f > ask", "f > b > j > end"), ["ask", "j", "approved"], ["ask", "j", "rejected"]],
  );

  it.each(["turn 1", "entry 1"])(
    "leaves a valid chain if another branch fails just before the timeout writes %s",
    async (call) => {
      const story = await new Story(asking, { b: [fails("no total")] }).start();
      await story.finish(story.deliver("f", 0));
      await story.finish(story.deliver("b", 0, { scope: "/f@1.b" }));
      const { workflowId, version } = story.world.record(story.id);
      const event = { execution: { id: story.id, workflowId, version }, scope: "/f@1.ask", seq: 0, node: "ask" };
      const expired = story.world.spawn("expired", (ports) => settleNode(ports, { ...event, expired: true }));
      await story.until(expired, call);
      const error = { Error: "NodeFailed", Cause: "no total" };
      expect(await story.finish(story.join("f", 1, { error }))).toMatchObject({ failed: true });
      await story.finish(story.close(1, error));
      await story.finish(expired);
      expect(story.chainOf("/f@1.ask")).toEqual(call === "turn 1" ? [] : ["ask failed"]);
      await story.judge();
      expect(await story.verify()).toMatchObject({ state: "anchored" });
    },
  );
});

describe("a map whose onError node has an edge back to the map", () => {
  it("starts new branches in its second visit, and joins only these new branches", async () => {
    const again = flow(
      "again",
      [mapOver("m", [action("i")], [], { onError: "r" }), action("r")],
      lines("start > m > end", "r > m"),
    );
    const story = await new Story(again, { i: [fails("first visit"), succeeds("i", "2")] }).start('{"list":["x"]}');
    await story.everything();
    expect(story.chain).toEqual([
      ...["start success", "m success", "m.join failed", "r success", "m success", "m.join success"],
      ...["end success", "(close) completed"],
    ]);
    expect([story.chainOf("/m@1.0"), story.chainOf("/m@4.0")]).toEqual([["i failed"], ["i success"]]);
    expect(await story.finish(story.join("m", 1))).toMatchObject({ seq: 2, failed: true });
    await story.judge();
    wellTold(story);
  });
});

it("a fork in a loop starts new branches in each visit, and joins only the branches of this visit", async () => {
  const round = flow(
    "round",
    [action("f"), action("a"), action("b"), decision("d")],
    [...lines("start > f > a > d", "f > b > d"), ["d", "f", "again", 2], ["d", "end", "default"]],
  );
  const a = ["1", "2", "3"].map((visit) => succeeds("a", visit));
  const story = await new Story(round, { a, d: [succeeds("branch_decision", '"again"')] }).start();
  await story.everything();
  expect(story.chain).toEqual([
    "start success",
    ...Array.from({ length: 3 }, () => ["f success", "f.join success", "d success"]).flat(),
    ...["end success", "(close) completed"],
  ]);
  const heads = story.entriesOf("").map(headOf);
  expect(heads.filter(({ node_id }) => node_id === "d").map(({ decision_result }) => decision_result)).toEqual([
    ...["again", "again", "default"],
  ]);
  expect(heads.map(({ loops }) => loops?.["d->again"] ?? 0)).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 0, 0]);
  expect(["/f@1.a", "/f@4.a", "/f@7.a"].map((scope) => story.chainOf(scope))).toEqual(Array(3).fill(["a success"]));
  const late = await story.finish(story.deliver("a", 0, { scope: "/f@4.a" }));
  expect(late).toMatchObject({ scope: "/f@4.a", seq: 1, summary: { set: ["a"] } });
  expect(await story.finish(story.join("f", 4))).toMatchObject({ seq: 5, failed: false });
  expect(story.begun).toHaveLength(12);
  await story.judge();
  expect(await story.verify()).toMatchObject({ state: "anchored", links: 18 });
  wellTold(story);
});

describe("a branch whose node fails as a task of Step Functions", () => {
  it("settles the node and fails, and the join after the branch closes the run", async () => {
    const story = await new Story(fork, { a: [fails("no total")] }).start();
    await story.everything();
    const machine = story.world.machines.get(story.id);
    expect(machine?.visitedIn.get("/f@1.a")).toEqual(["a", "a.settle", "a.settled", "f.fork.a.failed"]);
    expect(machine?.visited.slice(-4)).toEqual(["f.join", "f.joined", "execution.close", "execution.failed"]);
    expect(story.chain.slice(-2)).toEqual(["f.join failed", "(close) failed"]);
    await story.judge();
    wellTold(story);
  });

  it("continues if the chain says that the node succeeded", async () => {
    const story = await new Story(fork).start();
    story.world.lambdas.maxRetries = 0;
    let tasks = 0;
    story.world.lambdas.timer = (onFired) => {
      if (++tasks !== 2) return null;
      const fire = { name: "fire", ready: () => story.chainOf("/f@1.a").includes("a success"), effect: onFired };
      return story.world.scheduler.spawn("time is over", (own) => own.call(fire));
    };
    await story.everything();
    expect(story.world.machines.get(story.id)?.visitedIn.get("/f@1.a")).toEqual([
      "a",
      "a.settle",
      "a.settled",
      "f.fork.a.done",
    ]);
    expect(story.chain.at(-1)).toBe("(close) completed");
    await story.judge();
    wellTold(story);
  });
});
