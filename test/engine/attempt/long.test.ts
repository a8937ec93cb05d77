import { describe, expect, it } from "vitest";
import { headOf } from "../../../packages/engine/src/chain/entry.ts";
import { action, flow, lines } from "../../support/engine/flows.ts";
import type { Process } from "../../support/engine/scheduler.ts";
import { fails, Story, succeeds } from "../../support/engine/story.ts";

const hours = { timeoutSeconds: 7_200 };
const workflow = flow("long", [action("a", hours), action("b")], lines("start > a > b > end"));

/** A run whose first node has long code. The code ends when the test sets `codeStopsAt` to undefined. */
class LongStory extends Story {
  /** Ends the time during which the current delivery waits for the code. */
  #timeUp: (() => void) | undefined;

  static async begun(flowOf = workflow, scripts: ConstructorParameters<typeof Story>[1] = {}): Promise<LongStory> {
    const story = new LongStory(flowOf, scripts);
    story.codeStopsAt = "finish";
    story.world.followTime = () => {
      const time = new AbortController();
      story.#timeUp = () => time.abort();
      return time.signal;
    };
    await story.start();
    return story;
  }

  /**
   * Runs one delivery to its end and returns its result. If the code still runs, the delivery ends without an entry.
   */
  async look(delivery: Process = this.deliver("a", 0)): Promise<unknown> {
    await this.finish(delivery);
    this.#timeUp?.();
    return this.finish(delivery);
  }
}

describe("code with a timeout of two hours", () => {
  it("starts once and is checked by deliveries at growing intervals, the last of which commits its result", async () => {
    const story = await LongStory.begun(workflow, { a: [succeeds("a", "12345678901234567890")] });
    expect(await story.look()).toMatchObject({ scope: "", seq: 0, running: true, pause: 5 });
    story.world.clock.advance(600_000);
    expect(await story.look()).toMatchObject({ running: true, pause: 60 });
    story.world.clock.advance(5_000_000);
    expect(await story.look()).toMatchObject({ running: true, pause: 300 });
    expect(story.chain).toEqual(["start success"]);
    story.codeStopsAt = undefined;
    expect(await story.look()).toMatchObject({ seq: 1, summary: { set: ["a"] } });
    expect(story.begun).toHaveLength(1);
    expect(await story.finish(story.deliver("b", 1))).toMatchObject({ seq: 2 });
    await story.judge();
  });

  it("runs in a sandbox that lives as long as the timeout of the code and is killed after the code has returned its result", async () => {
    const story = await LongStory.begun();
    await story.look();
    const [sandbox] = story.world.sandboxes.alive();
    expect(Date.parse(sandbox?.endsAt ?? "") - Date.parse(sandbox?.createdAt ?? "")).toBe(7_260_000);
    story.codeStopsAt = undefined;
    await story.look();
    expect(story.entriesOf("").map((entry) => headOf(entry).warm)).toEqual([null, null]);
    expect(story.world.sandboxes.alive()).toEqual([]);
  });

  it("gets a sandbox that lives for one day at most, because no plan of E2B allows a longer life", async () => {
    const day = flow("day", [action("a", { timeoutSeconds: 86_400 })], lines("start > a > end"));
    const story = await LongStory.begun(day);
    await story.look();
    const [sandbox] = story.world.sandboxes.alive();
    expect(Date.parse(sandbox?.endsAt ?? "") - Date.parse(sandbox?.createdAt ?? "")).toBe(86_400_000);
  });

  it("leaves its sandbox to the next node if it ends during the first delivery of its node", async () => {
    const story = await LongStory.begun();
    story.codeStopsAt = undefined;
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1 });
    await story.finish(story.deliver("b", 1));
    expect(story.begun.map(({ box }) => box.id)).toEqual(["S1", "S1"]);
  });

  it("leaves its sandbox to the next node even if two deliveries wait for the end of the code", async () => {
    const story = await LongStory.begun();
    const [first, second] = [story.deliver("a", 0), story.deliver("a", 0)];
    await story.finish(first);
    await story.finish(second);
    story.codeStopsAt = undefined;
    await story.until(second, "entry");
    expect(await story.finish(first)).toMatchObject({ seq: 1 });
    expect(await story.finish(second)).toMatchObject({ seq: 1 });
    expect(story.world.sandboxes.alive().map(({ id }) => id)).toEqual(["S1"]);
  });

  it("is killed if the run is cancelled, and later deliveries of its node report that the run is closed", async () => {
    const story = await LongStory.begun();
    await story.look();
    await story.finish(story.cancel());
    expect(story.begun.map(({ state }) => state)).toEqual(["dead"]);
    expect(story.chain).toEqual(["start success", "a failed", "(close) cancelled"]);
    expect(await story.look()).toBe("ExecutionClosed");
    await story.judge();
  });

  it("starts again in a new sandbox with its whole timeout if it fails and its node has a retry", async () => {
    const retry = { effects: false, retry: { attempts: 2, delaySeconds: 5 } };
    const repeated = flow("repeated", [action("a", { ...hours, ...retry })], lines("start > a > end"));
    const story = await LongStory.begun(repeated, { a: [fails("no"), succeeds("a", "1")] });
    await story.look();
    story.world.clock.advance(6_000_000);
    story.codeStopsAt = undefined;
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ running: true, pause: 5 });
    story.world.clock.advance(5_000);
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1 });
    expect(story.begun.map(({ box, claim }) => [box.id, claim.attempt])).toEqual([
      ["S1", 1],
      ["S2", 2],
    ]);
    expect(story.world.sandboxes.isAlive("S1")).toBe(false);
    await story.judge();
  });

  it("fails its node if its sandbox is lost, just like code with a short timeout", async () => {
    const story = await LongStory.begun();
    await story.look();
    story.world.sandboxes.kill("S1");
    expect(await story.look()).toBe("NodeInterrupted");
    await story.judge();
  });
});
