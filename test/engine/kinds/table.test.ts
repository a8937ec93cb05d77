import { describe, expect, it } from "vitest";
import { headOf } from "../../../packages/engine/src/chain/entry.ts";
import { action, flow, lines } from "../../support/engine/flows.ts";
import { fails, given, Story, succeeds } from "../../support/engine/story.ts";

const shape = lines("start > f > a > j > end", "f > b > c > j");
const fork = flow("fork", [action("f"), action("a"), action("b"), action("c"), action("j")], shape);
const joinOf = (story: Story) => {
  const entry = story.entriesOf("").find((one) => headOf(one).node_type === "join");
  if (!entry) throw new TypeError("there is no join");
  const { error } = entry.contents;
  return { head: headOf(entry), entry, error: error && "text" in error ? JSON.parse(error.text) : undefined };
};

async function ran(story: Story, context?: string): Promise<Story> {
  await story.start(context);
  await story.everything();
  await story.judge();
  expect(story.invariants.violations).toEqual([]);
  return story;
}

it("a fork gives every branch a separate scope, and the join merges the keys that the branches set", async () => {
  const seen: (string | undefined)[] = [];
  const story = await ran(
    new Story(fork, {
      c: (request) => {
        seen.push(given(request, "f"), given(request, "a"), given(request, "b"));
        return succeeds("c", "3.50");
      },
      j: (request) => {
        seen.push(given(request, "a"), given(request, "c"));
        return succeeds("j", "1");
      },
    }),
  );
  expect(story.chain).toEqual([
    ...["start success", "f success", "f.join success", "j success", "end success", "(close) completed"],
  ]);
  expect(story.chainOf("/f@1.b")).toEqual(["b success", "c success"]);
  expect(seen).toEqual(["true", undefined, "true", "true", "3.50"]);
});

it("a join counts the entries in its branches and how often code ran there, and lists the last entry of each branch", async () => {
  const story = await ran(new Story(fork));
  const { head, entry } = joinOf(story);
  const tip = (scope: string) => ({
    scope,
    seq: story.entriesOf(scope).length,
    hash: story.entriesOf(scope).at(-1)?.hash,
  });
  expect(head).toMatchObject({ inner: 3, nodes: 4, path_taken: "j", warm: { id: "S1" } });
  expect(entry.contents.branches).toEqual({ text: JSON.stringify([tip("/f@1.a"), tip("/f@1.b")]) });
  const close = story.entriesOf("").at(-1);
  expect(close && headOf(close)).toMatchObject({ inner: 3, nodes: 5, close: { count: 9 } });
});

describe("a branch of a fork that fails", () => {
  it("stops the other branches and fails the run with the message of the failed branch", async () => {
    const story = await new Story(fork, { b: [fails("no total")] }).start();
    await story.everything();
    await story.judge();
    const { head, error } = joinOf(story);
    expect(head).toMatchObject({ status: "failed", error_class: "NodeFailed", path_taken: null });
    expect(error).toEqual({
      message: 'node "b" in branch "b": no total',
      node: "b",
      within: 'branch "b"',
      reason: "no total",
    });
    expect(story.world.record(story.id)).toMatchObject({
      status: "failed",
      error: { node: "b", class: "NodeFailed", message: 'in branch "b": no total' },
    });
    expect(story.world.machines.get(story.id)?.error).toEqual({
      Error: "NodeFailed",
      Cause: 'node "b": in branch "b": no total',
    });
  });

  it("is named in the error of the run, together with the branches that contain it", async () => {
    const nested = flow(
      "nested",
      [action("f"), action("a"), action("c"), action("d"), action("b"), action("j")],
      lines("start > f > a > c > j > end", "a > d > j", "f > b > j"),
    );
    const story = await ran(new Story(nested, { d: [fails("deep down")] }));
    expect(joinOf(story).error.message).toBe('node "d" in branch "d" of branch "a": deep down');
  });

  it("stops no other branch if the failed node has an onError", async () => {
    const rescued = flow(
      "rescued",
      [action("f"), action("a", { onError: "r" }), action("r"), action("b"), action("c"), action("j")],
      [...shape, ...lines("r > j")],
    );
    const story = await ran(new Story(rescued, { a: [fails("once")] }));
    expect(story.chainOf("/f@1.a")).toEqual(["a failed", "r success"]);
    expect(joinOf(story).head.status).toBe("success");
  });
});

it("a join fails if two branches set different values for one key", async () => {
  const both = { a: [succeeds("total", "1")], c: [succeeds("total", "2")] };
  const story = await ran(new Story(fork, both));
  expect(joinOf(story).error.message).toMatch(/^branches "a" and "b" both changed context\["total"\]/);
  expect(story.chain.at(-1)).toBe("(close) failed");
});

it("a join returns the same result to a second delivery", async () => {
  const story = await ran(new Story(fork));
  expect(await story.finish(story.join("f", 1))).toMatchObject({ seq: 2, failed: false });
});

it("a join throws an error if its branches have not ended, unless Step Functions reports a failure", async () => {
  const story = await new Story(fork).start();
  await story.finish(story.deliver("f", 0));
  await story.finish(story.deliver("a", 0, { scope: "/f@1.a" }));
  expect(await story.finish(story.join("f", 1))).toBe("ChainBroken");
  const error = { Error: "Lambda.Unknown", Cause: "The process exited" };
  expect(await story.finish(story.join("f", 1, { error }))).toMatchObject({
    failed: true,
    error: { Error: "NodeInterrupted", Cause: 'node "f.join": Lambda.Unknown: The process exited' },
  });
  expect(await story.finish(story.deliver("b", 0, { scope: "/f@1.b" }))).toBe("ExecutionClosed");
});
