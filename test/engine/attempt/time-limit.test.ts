import type { RunRequest } from "@nova/engine";
import { maxChecks } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { headOf } from "../../../packages/engine/src/chain/entry.ts";
import { graceSeconds } from "../../../packages/engine/src/sandboxes/spec.ts";
import { action, flow, lines, mapOver, prompted } from "../../support/engine/flows.ts";
import { PromptStory } from "../../support/engine/prompt-story.ts";
import { scriptedMinds } from "../../support/engine/scripted-minds.ts";
import { fails, given, Story, succeeds } from "../../support/engine/story.ts";

const hour = 3_600_000;
const [timeoutMs, graceMs] = [60_000, graceSeconds * 1000];
const one = flow("one", [action("a"), action("b")], lines("start > a > b > end"));

/** Starts a run whose code in the sandbox never ends. */
async function silent(workflow = one, scripts: ConstructorParameters<typeof Story>[1] = {}): Promise<Story> {
  const story = new Story(workflow, scripts);
  story.codeStopsAt = "finish";
  return story.start();
}

/**
 * Expects that the node failed with `NodeTimeout`: it has one failed entry, no sandbox is alive, and a later delivery
 * reports the same error.
 */
async function isOverdue(story: Story): Promise<void> {
  expect(story.chain).toEqual(["start success", "a failed"]);
  expect(story.entriesOf("").map((entry) => headOf(entry).error_class)).toEqual([undefined, "NodeTimeout"]);
  expect(story.world.sandboxes.alive()).toEqual([]);
  expect(await story.finish(story.deliver("a", 0))).toBe("NodeTimeout");
  expect(story.begun).toHaveLength(1);
  expect(story.invariants.violations).toEqual([]);
}

describe("a sandbox that never reports the end of its code", () => {
  it("is killed when the timeout of its node and the extra time for transfers are over", async () => {
    const story = await silent();
    const delivery = story.deliver("a", 0);
    await story.finish(delivery);
    story.world.clock.advance(timeoutMs + graceMs - 1);
    await story.finish(delivery);
    expect(delivery.state).toBe("running");
    story.world.clock.advance(1);
    expect(await story.finish(delivery)).toBe("NodeTimeout");
    await isOverdue(story);
    expect(JSON.stringify(story.entriesOf("")[1])).toContain("printed until it was stopped");
  });

  it("gets no more time when further deliveries of its node arrive, however many deliveries there are", async () => {
    const story = await silent();
    for (let deliveries = 0; deliveries < 3; deliveries++) {
      const time = new AbortController();
      const delivery = story.deliver("a", 0, { time });
      await story.finish(delivery);
      story.world.clock.advance(59_000);
      time.abort();
      expect(await story.finish(delivery)).toBe("NodeUnfinished");
    }
    const last = story.deliver("a", 0);
    await story.finish(last);
    story.world.clock.advance(3_000);
    expect(await story.finish(last)).toBe("NodeTimeout");
    await isOverdue(story);
  });

  it("is killed by a delivery that starts after the timeout of the code", async () => {
    const story = await silent();
    const first = story.deliver("a", 0);
    await story.finish(first);
    first.kill();
    story.world.sandboxes.box("S1").endsAt = story.world.clock.iso(story.world.clock.now + hour);
    story.world.clock.advance(timeoutMs + graceMs);
    expect(await story.finish(story.deliver("a", 0))).toBe("NodeTimeout");
    await isOverdue(story);
  });

  it("fails its node after the usual time even if a process sets the clock back by a year", async () => {
    const story = await silent();
    const delivery = story.deliver("a", 0);
    await story.finish(delivery);
    story.world.clock.now -= 365 * 24 * hour;
    const second = story.deliver("a", 0);
    await story.finish(second);
    story.world.clock.advance(timeoutMs + graceMs);
    expect(await story.finish(second)).toBe("NodeTimeout");
    await isOverdue(story);
  });

  it("fails only the item of a map to which it belongs", async () => {
    const map = mapOver("m", [action("i")], [], { toleratedFailures: { count: 1 } });
    const script = (request: RunRequest) => {
      const item = given(request, "item") as string;
      return succeeds("n", item, item === "2" ? { isSilent: true } : {});
    };
    const story = await new Story(flow("items", [map], lines("start > m > end")), { i: script }).start(
      '{"list":[1,2,3,4]}',
    );
    await story.everything();
    expect(story.chain).toEqual(["start success", "m success"]);
    story.world.clock.advance(timeoutMs + graceMs);
    await story.everything();
    expect(story.chain).toEqual([
      ...["start success", "m success", "m.join success", "end success", "(close) completed"],
    ]);
    expect([0, 1, 2, 3].map((item) => story.chainOf(`/m@1.${item}`))).toEqual([
      ...[["i success"], ["i failed"], ["i success"], ["i success"]],
    ]);
    await story.judge();
  });
});

describe("a sandbox that sends a malformed message", () => {
  const says = { a: [succeeds("a", "1", { isMalformed: true })] };

  it("fails its node and is killed, and the run continues at the node's onError", async () => {
    const rescued = flow("rescued", [action("a", { onError: "r" }), action("r")], lines("start > a > end", "r > end"));
    const story = await new Story(rescued, says).start();
    await story.everything();
    expect(story.chain).toEqual(["start success", "a failed", "r success", "end success", "(close) completed"]);
    expect(headOf(story.entriesOf("")[1] as never)).toMatchObject({ error_class: "NodeFailed", warm: null });
    expect(story.begun.map(({ box, claim }) => [box.id, claim.attempt])).toEqual([
      ["S1", 1],
      ["S2", 1],
    ]);
    await story.judge();
  });

  it("fails its node after one attempt even if the node has a retry", async () => {
    const again = { effects: false, retry: { attempts: 3, delaySeconds: 5 } };
    const story = await new Story(flow("repeated", [action("a", again)], lines("start > a > end")), says).start();
    await story.everything();
    expect(story.chain).toEqual(["start success", "a failed", "(close) failed"]);
    expect(story.begun).toHaveLength(1);
    await story.judge();
  });
});

describe("a result of code", () => {
  it("that was produced before the timeout counts, however late a delivery reads it", async () => {
    const story = await silent(one, { a: [succeeds("a", "1")] });
    const first = story.deliver("a", 0);
    await story.until(first, "entry 1").catch(() => undefined);
    story.codeStopsAt = undefined;
    await story.until(first, "entry 1");
    first.kill();
    story.world.sandboxes.box("S1").endsAt = story.world.clock.iso(story.world.clock.now + hour);
    story.world.clock.advance(timeoutMs + graceMs);
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1, summary: { set: ["a"] } });
  });
});

describe("code of a node with `effects: false` and a retry", () => {
  const again = { effects: false, retry: { attempts: 2, delaySeconds: 100 } };
  const repeated = flow("repeated", [action("a", again)], lines("start > a > end"));

  it("may run for its whole timeout in each attempt", async () => {
    const story = await silent(repeated, { a: [fails("no"), succeeds("a", "1")] });
    const delivery = story.deliver("a", 0);
    await story.finish(delivery);
    story.world.clock.advance(timeoutMs + graceMs - 1);
    story.codeStopsAt = undefined;
    expect(await story.finish(delivery)).toBe("NodeRetry");
    story.world.clock.advance(100_000);
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1 });
    expect(story.begun.map(({ claim }) => claim.attempt)).toEqual([1, 2]);
  });

  it("runs again in another sandbox if it gave no result in the first sandbox before the timeout", async () => {
    const story = await silent(repeated);
    const delivery = story.deliver("a", 0);
    await story.finish(delivery);
    story.world.clock.advance(timeoutMs + graceMs);
    expect(await story.finish(delivery)).toBe("NodeRetry");
    story.codeStopsAt = undefined;
    story.world.clock.advance(100_000);
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1 });
    expect(story.begun.map(({ box }) => box.id)).toEqual(["S1", "S2"]);
  });
});

describe("code with a long timeout", () => {
  const long = (timeoutSeconds: number) => flow("long", [action("a", { timeoutSeconds })], lines("start > a > end"));

  it("is checked at intervals until its timeout, and then its sandbox is killed", async () => {
    const story = await silent(long(7_200));
    story.world.followTime = () => AbortSignal.abort();
    let pauses = 0;
    for (let seconds = 0; seconds < 7_200 + 60; pauses++) {
      const { running, pause } = (await story.finish(story.deliver("a", 0))) as { running: true; pause: number };
      expect(running).toBe(true);
      story.world.clock.advance(pause * 1000);
      seconds += pause;
    }
    expect(pauses).toBeLessThanOrEqual(maxChecks({ timeoutSeconds: 7_200 }));
    expect(await story.finish(story.deliver("a", 0))).toBe("NodeTimeout");
    await isOverdue(story);
  });

  it.each([1_000, 3_600, 7_200, 43_200])(
    "of %i seconds is checked a last time while its sandbox still holds the result",
    async (timeoutSeconds) => {
      const story = await silent(long(timeoutSeconds), { a: [succeeds("a", "1")] });
      story.world.followTime = () => AbortSignal.abort();
      let seconds = 0;
      while (seconds < timeoutSeconds) {
        const { pause } = (await story.finish(story.deliver("a", 0))) as { pause: number };
        story.world.clock.advance(pause * 1000);
        seconds += pause;
      }
      story.codeStopsAt = undefined;
      story.world.followTime = () => new AbortController().signal;
      expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1, summary: { set: ["a"] } });
    },
  );
});

describe("code that a model wrote", () => {
  const written = flow("written", [prompted(action("a"))], lines("start > a > end"));
  const graced = (seconds: number) => (seconds + graceSeconds) * 1000;

  async function begun(): Promise<{ story: PromptStory; deliver: () => ReturnType<Story["deliver"]> }> {
    const story = new PromptStory(written, scriptedMinds({ codes: ["# one", "# two"] }), {});
    story.codeStopsAt = "finish";
    await story.start();
    return { story, deliver: () => story.deliver("a", 0) };
  }

  it("fails its node if it gives no result before the timeout, and the model writes no other code", async () => {
    const { story, deliver } = await begun();
    const delivery = deliver();
    await story.finish(delivery);
    const [code] = story.begun;
    story.world.clock.advance(graced(code?.request.timeoutSeconds as number));
    expect(await story.finish(delivery)).toBe("NodeTimeout");
    expect(story.head).toMatchObject({ node_id: "a", error_class: "NodeTimeout", warm: null });
    expect(story.paid.filter((role) => role.includes("generat"))).toHaveLength(1);
    await isOverdue(story);
  });

  it("must end within the time budget of its node, which the deliveries of the node share", async () => {
    const { story, deliver } = await begun();
    const first = deliver();
    await story.finish(first);
    first.kill();
    story.world.sandboxes.box("S1").endsAt = story.world.clock.iso(story.world.clock.now + hour);
    story.world.clock.advance(graced(840));
    expect(await story.finish(deliver())).toBe("NodeTimeout");
    await isOverdue(story);
  });
});
