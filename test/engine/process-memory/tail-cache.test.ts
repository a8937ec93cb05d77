import { createTailCache, type StoredEntry } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { action, flow, lines } from "../../support/engine/flows.ts";
import { Story } from "../../support/engine/story.ts";

const two = flow("two", [action("a"), action("b")], lines("start > a > b > end"));

const at = { execution: "exec_1", scope: "", seq: 3 };
const entry = { head: "{}", hash: "h", contents: {} } satisfies StoredEntry;

describe("the links that a process has just written", () => {
  it("are given once, to the next node", () => {
    const tips = createTailCache();
    tips.keep(at, entry, 0);
    expect(tips.take(at, 1)).toBe(entry);
    expect(tips.take(at, 1)).toBeUndefined();
  });

  it.each([
    ["another execution", { ...at, execution: "exec_2" }],
    ["another scope", { ...at, scope: "/all@2.0" }],
    ["another number", { ...at, seq: 4 }],
  ])("say nothing of %s", (_what, other) => {
    const tips = createTailCache();
    tips.keep(at, entry, 0);
    expect(tips.take(other, 1)).toBeUndefined();
  });

  it("are forgotten after five seconds, when another process may have written", () => {
    const tips = createTailCache();
    tips.keep(at, entry, 1_000);
    tips.keep({ ...at, seq: 4 }, entry, 1_000);
    expect([tips.take(at, 5_999), tips.take({ ...at, seq: 4 }, 6_000)]).toEqual([entry, undefined]);
  });

  it("are a few: the oldest go first", () => {
    const tips = createTailCache();
    for (let seq = 0; seq <= 64; seq++) tips.keep({ ...at, seq }, entry, 0);
    expect([0, 1, 64].map((seq) => tips.take({ ...at, seq }, 1) !== undefined)).toEqual([false, true, true]);
  });
});

describe("a run whose nodes all run in one process", () => {
  const isRead = (line: string) => /^run \w+: read \d+\.\./.test(line);

  it("never reads its chain between its nodes", async () => {
    const story = await new Story(two).start();
    await story.everything();
    expect(story.chain.length).toBeGreaterThan(2);
    expect(story.world.scheduler.story.filter(isRead)).toEqual([]);
  });

  it("reads it for a node that is delivered twice", async () => {
    const story = await new Story(two).start();
    await story.until(story.deliver("a", 0), "upload");
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1 });
    expect(story.world.scheduler.story.filter(isRead)).toEqual(["run a: read 0.."]);
  });

  it("runs nothing after a close of another process", async () => {
    const story = await new Story(two).start();
    await story.finish(story.cancel());
    expect(await story.finish(story.deliver("a", 0))).toBe("ExecutionClosed");
    expect(story.begun).toEqual([]);
  });
});
