import { describe, expect, it } from "vitest";
import { headOf } from "../../packages/engine/src/chain/entry.ts";
import { action, flow } from "../support/engine/flows.ts";
import { textRef } from "../support/engine/harness.ts";
import { fails, Story, succeeds, wellTold } from "../support/engine/story.ts";

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

describe("a retry after the Lambda and its sandbox died while code ran", () => {
  async function upToTheRetry(workflow: typeof one): Promise<{ story: Story; answer: unknown }> {
    const story = await new Story(workflow).start();
    story.codeStopsAt = "finish";
    const first = story.deliver("a", 0);
    await story.finish(first);
    first.kill();
    story.world.sandboxes.kill("S1");
    story.codeStopsAt = undefined;
    const answer = await story.finish(story.deliver("a", 0));
    wellTold(story);
    return { story, answer };
  }

  it("does not start the code again, and fails the node as interrupted", async () => {
    const { story, answer } = await upToTheRetry(one);
    expect(answer).toBe("NodeInterrupted");
    expect(story.begun).toHaveLength(1);
    expect(story.chain).toEqual(["start success", "a failed"]);
  });

  it("starts a second attempt in a new sandbox if the node declares `effects: false`", async () => {
    const { story, answer } = await upToTheRetry(repeatable);
    expect(answer).toMatchObject({ seq: 1 });
    expect(story.begun.map(({ box, claim }) => [box.id, claim.attempt])).toEqual([
      ["S1", 1],
      ["S2", 2],
    ]);
    const [, entry] = story.world.chain.entriesOf(story.id);
    expect(entry && headOf(entry)).toMatchObject({ attempt: 2, sandbox_id: "S2", steps: [expect.any(String)] });
  });
});

describe("a cancel of a run while code runs", () => {
  it("kills the code, drops its outcome, and closes the run after a failed entry", async () => {
    const story = await new Story(one).start();
    story.codeStopsAt = "finish";
    const delivery = story.deliver("a", 0);
    await story.finish(delivery);
    const closed = await story.finish(story.cancel());
    story.codeStopsAt = undefined;
    expect(closed).toMatchObject({ status: "cancelled", error: { node: "a", class: "ExecutionClosed" } });
    expect(await story.finish(delivery)).toBe("ExecutionClosed");
    expect(story.chain).toEqual(["start success", "a failed", "(close) cancelled"]);
    expect(story.world.machines.get(story.id)?.status).toBe("aborted");
    await story.judge();
    wellTold(story);
  });

  it("keeps the outcome of code that finished before the cancel", async () => {
    const story = await new Story(one).start();
    const delivery = story.deliver("a", 0);
    await story.until(delivery, "entry 1");
    await story.finish(story.cancel());
    expect(await story.finish(delivery)).toMatchObject({ seq: 1 });
    expect(story.chain).toEqual(["start success", "a success", "(close) cancelled"]);
    expect(await story.verify()).toMatchObject({ state: "anchored", links: 3 });
  });

  it("stops the state machine of the run before writing to the chain", async () => {
    const story = await new Story(one).start();
    const cancel = story.cancel();
    await story.until(cancel, "tip");
    expect(story.world.machines.get(story.id)?.status).toBe("aborted");
  });
});

describe("a run whose node has a committed result while Step Functions sees only timeouts", () => {
  it("continues along the edge for success, because the chain says that the node succeeded", async () => {
    const story = await new Story(rescued).start();
    const { lambdas, scheduler } = story.world;
    let timeouts = 2;
    lambdas.maxRetries = 1;
    lambdas.timer = (onFired) => {
      if (timeouts-- <= 0) return null;
      const fire = { name: "fire", ready: () => story.chain.includes("a success"), effect: onFired };
      return scheduler.spawn("time is over", (own) => own.call(fire));
    };
    await story.everything();
    expect(story.world.machines.get(story.id)?.visited).toContain("a.settled");
    expect(story.chain).toEqual(["start success", "a success", "b success", "end success", "(close) completed"]);
  });

  it.each([
    ["a result that the sandbox has kept is committed", undefined, { failed: false }, "a success"],
    ["code that still runs is killed, and the node fails", "finish" as const, { failed: true }, "a failed"],
  ])("gets an entry from the settle task if the node has no entry: %s", async (_what, codeStopsAt, answer, link) => {
    const story = await new Story(rescued).start();
    story.codeStopsAt = codeStopsAt;
    const delivery = story.deliver("a", 0);
    if (answer.failed) await story.finish(delivery);
    else await story.until(delivery, "entry 1");
    delivery.kill();
    expect(await story.finish(story.settle("a", 0))).toMatchObject({ seq: 1, ...answer });
    expect(story.chain).toEqual(["start success", link]);
    expect(story.world.sandboxes.running()).toEqual([]);
  });
});

it("two nodes get a separate entry for every visit if the onError of each node is the other node", async () => {
  const mutual = flow(
    "mutual",
    [action("a", { onError: "b" }), action("b", { onError: "a" })],
    [
      ["start", "a"],
      ["a", "end"],
      ["b", "end"],
    ],
  );
  const story = await new Story(mutual, { a: [fails("first a"), succeeds("a", "2")], b: [fails("b")] }).start();
  await story.everything();
  expect(story.chain).toEqual([
    "start success",
    "a failed",
    "b failed",
    "a success",
    "end success",
    "(close) completed",
  ]);
  expect(await story.finish(story.deliver("a", 0))).toBe("NodeFailed");
  expect(story.begun).toHaveLength(3);
  await story.invariants.judge();
  wellTold(story);
});

describe("a delivery that loses its connection to the sandbox while the code continues", () => {
  it("connects to the running code again", async () => {
    const story = await new Story(one).start();
    const delivery = story.deliver("a", 0);
    await story.until(delivery, "wait");
    await story.perform(delivery, "before");
    expect(await story.finish(delivery)).toMatchObject({ seq: 1 });
    expect(story.begun).toHaveLength(1);
    wellTold(story);
  });

  it("leaves the running code to the next delivery if the connection stays broken", async () => {
    const story = await new Story(one).start();
    const delivery = story.deliver("a", 0);
    for (let i = 0; i < 3; i++) {
      await story.until(delivery, "execute");
      await story.perform(delivery, "after");
    }
    expect(await story.finish(delivery)).toBe("NodeUnfinished");
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1 });
    expect(story.begun).toHaveLength(1);
    wellTold(story);
  });

  it("is followed by a settle task that first kills the unreachable sandbox and then writes the failed entry", async () => {
    const story = await new Story(rescued).start();
    story.codeStopsAt = "finish";
    await story.finish(story.deliver("a", 0));
    const settle = story.settle("a", 0);
    await story.until(settle, "look for a result");
    await story.perform(settle, "before");
    await story.until(settle, "entry 1");
    expect(story.world.sandboxes.alive()).toEqual([]);
    expect(await story.finish(settle)).toMatchObject({ failed: true });
  });
});

describe("the close of a run by a Lambda that dies after it wrote the close entry", () => {
  it.each(["get record", "update record status", "publish", "kill all sandboxes", "leave the open index"])(
    "is completed by a sweep if the Lambda dies before its call %s",
    async (call) => {
      const story = await new Story(flow("bare", [], [["start", "end"]])).start();
      const end = story.deliver("end", 0);
      await story.until(end, call);
      await story.perform(end, "kill");
      expect(story.chain).toEqual(["start success", "end success", "(close) completed"]);
      expect(story.world.record(story.id).open).toBe(true);
      await story.finish(story.sweeper());
      expect(story.world.record(story.id)).toMatchObject({ status: "completed", open: false });
      await story.judge();
      wellTold(story);
    },
  );
});

it("an entry lists the stored text of a step if two deliveries write the same step", async () => {
  const story = await new Story(repeatable, { a: [fails("once"), succeeds("a", "1")] }).start();
  const first = story.deliver("a", 0);
  const second = story.deliver("a", 0);
  await story.until(first, "step 1 1");
  await story.until(second, "step 1 1");
  story.world.clock.advance(1);
  await story.finish(second);
  expect(await story.finish(first)).toBe("NodeRetry");
  story.world.clock.advance(5_000);
  expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1 });
  expect(story.begun.map(({ claim }) => claim.attempt)).toEqual([1, 2]);
  await story.everything();
  expect(await story.verify()).toMatchObject({ state: "anchored" });
});

describe("a Lambda that dies while it transfers a blob to or from the code", () => {
  const letter = "dear all ".repeat(1000);

  it("is followed by another delivery that sends the blob to the code", async () => {
    const story = await new Story(one, { a: [succeeds("a", "1", { reads: "letter" })] }).start(
      JSON.stringify({ letter }),
    );
    const first = story.deliver("a", 0);
    await story.until(first, "get blob");
    await story.perform(first, "kill");
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1 });
    expect(story.begun).toHaveLength(1);
  });

  it("leaves a large result in the sandbox, and the next delivery stores this result", async () => {
    const report = Buffer.from("report ".repeat(1000));
    const large = succeeds("report", JSON.stringify({ $blob: textRef(report) }), { files: [report] });
    const story = await new Story(one, { a: [large] }).start();
    const first = story.deliver("a", 0);
    await story.until(first, "put blob");
    await story.perform(first, "kill");
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1, summary: { set: ["report"] } });
    expect(Array.from(story.world.blobs.blobs.values(), String)).toContain(String(report));
  });

  it("does not prevent the next delivery from storing a returned blob that is part of the transferred blob", async () => {
    const rows = Array.from({ length: 1000 }, (_, i) => `row ${i}`);
    const inner = JSON.stringify({ $blob: textRef(Buffer.from(letter)) });
    const story = await new Story(one, { a: [succeeds("copy", inner, { reads: "mail" })] }).start(
      JSON.stringify({ mail: { letter, rows } }),
    );
    const first = story.deliver("a", 0);
    await story.until(first, "entry 1");
    await story.perform(first, "kill");
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1, summary: { set: ["copy"] } });
  });
});
