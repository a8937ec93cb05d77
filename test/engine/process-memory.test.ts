import { createEndings, createInFlight, createTailCache, createWarmPool, type StoredEntry } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { action, flow, lines, mapOver, prompted } from "../support/engine/flows.ts";
import { PromptStory } from "../support/engine/prompt-story.ts";
import { scriptedMinds } from "../support/engine/scripted-minds.ts";
import { Story } from "../support/engine/story.ts";

const two = flow("two", [action("a"), action("b")], lines("start > a > b > end"));

const at = { execution: "exec_1", scope: "", seq: 3 };
const entry = { head: "{}", hash: "h", contents: {} } satisfies StoredEntry;

describe("the cache of entries that this process has just written", () => {
  it("returns an entry to the next node, and only once", () => {
    const tips = createTailCache();
    tips.keep(at, entry, 0);
    expect(tips.take(at, 1)).toBe(entry);
    expect(tips.take(at, 1)).toBeUndefined();
  });

  it.each([
    ["another execution", { ...at, execution: "exec_2" }],
    ["another scope", { ...at, scope: "/all@2.0" }],
    ["another entry number", { ...at, seq: 4 }],
  ])("returns no entry for %s", (_what, other) => {
    const tips = createTailCache();
    tips.keep(at, entry, 0);
    expect(tips.take(other, 1)).toBeUndefined();
  });

  it("drops an entry after five seconds, because another process may have written a newer entry", () => {
    const tips = createTailCache();
    tips.keep(at, entry, 1_000);
    tips.keep({ ...at, seq: 4 }, entry, 1_000);
    expect([tips.take(at, 5_999), tips.take({ ...at, seq: 4 }, 6_000)]).toEqual([entry, undefined]);
  });

  it("keeps only a few entries, and drops the oldest first", () => {
    const tips = createTailCache();
    for (let seq = 0; seq <= 64; seq++) tips.keep({ ...at, seq }, entry, 0);
    expect([0, 1, 64].map((seq) => tips.take({ ...at, seq }, 1) !== undefined)).toEqual([false, true, true]);
  });
});

describe("a run whose nodes all run in one process", () => {
  const isRead = (line: string) => /^run \w+: read \d+\.\./.test(line);

  it("never reads its chain from the database between its nodes", async () => {
    const story = await new Story(two).start();
    await story.everything();
    expect(story.chain.length).toBeGreaterThan(2);
    expect(story.world.scheduler.story.filter(isRead)).toEqual([]);
  });

  it("reads its chain from the database for a node that is delivered twice", async () => {
    const story = await new Story(two).start();
    await story.until(story.deliver("a", 0), "upload");
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1 });
    expect(story.world.scheduler.story.filter(isRead)).toEqual(["run a: read 0.."]);
  });

  it("runs no further node after another process has closed it", async () => {
    const story = await new Story(two).start();
    await story.finish(story.cancel());
    expect(await story.finish(story.deliver("a", 0))).toBe("ExecutionClosed");
    expect(story.begun).toEqual([]);
  });
});

const one = flow("one", [prompted(action("a"))], lines("start > a > end"));

it("a process lists a run as in flight until all deliveries of the run have ended, also if they end with an error", async () => {
  const inFlight = createInFlight();
  const [first, second] = [Promise.withResolvers<number>(), Promise.withResolvers<never>()];
  const both = [inFlight.during("exec_1", () => first.promise), inFlight.during("exec_1", () => second.promise)];
  expect(inFlight.runs).toEqual(["exec_1"]);
  first.resolve(7);
  expect(await both[0]).toBe(7);
  expect(inFlight.runs).toEqual(["exec_1"]);
  second.reject(new RangeError("no sandbox"));
  await expect(both[1]).rejects.toThrow("no sandbox");
  expect(inFlight.runs).toEqual([]);
});

it("a process lists a run as in flight until the model has answered, even after a close, and does not store this late answer", async () => {
  const story = new PromptStory(one, scriptedMinds({ codes: ["# one"] }));
  await story.start();
  const { inFlight } = story.world.ports({ call: async ({ effect }) => effect() });
  const node = story.deliver("a", 0);
  await story.until(node, "ask");
  expect(await story.finish(story.cancel())).toMatchObject({ status: "cancelled" });
  expect(inFlight.runs).toEqual([story.id]);
  await story.finish(node);
  expect(inFlight.runs).toEqual([]);
  expect(story.paid).toHaveLength(1);
  expect(story.world.chain.at({ execution: story.id, scope: "", seq: 1 }).steps.size).toBe(0);
});

it("a process stores no step if a model fails after the run was closed", async () => {
  const story = new PromptStory(one, scriptedMinds({ codes: ["# one"] }));
  await story.start();
  const node = story.deliver("a", 0);
  await story.until(node, "ask");
  await story.finish(story.cancel());
  await story.perform(node, "before");
  await story.finish(node);
  expect(story.world.chain.at({ execution: story.id, scope: "", seq: 1 }).steps.size).toBe(0);
});

it("the end of an execution wakes all callers that wait for it, and no other callers", async () => {
  const endings = createEndings();
  const woken: string[] = [];
  const waits = ["a", "a", "b"].map((id) => endings.wait(id, id === "a" ? 60_000 : 50).then(() => woken.push(id)));
  endings.tell("a");
  await Promise.all(waits);
  expect(woken).toEqual(["a", "a", "b"]);
});

const until = (second: number) => ({ createdAt: "", endsAt: `2026-01-01T00:00:0${second}.000Z` });
const item = (branch: string, seq = 1) => ({ execution: "e", scope: `/m@${seq}.${branch}` });

it("the pool of warm sandboxes gives each sandbox once, the newest first, and only to a branch of the same fork", () => {
  const pool = createWarmPool();
  const [one, other] = [item("0"), item("1")];
  for (const id of ["S1", "S2", "S2"]) pool.offer(one, { id, ...until(1) });
  for (const at of [item("0", 5), { ...one, execution: "f" }, { ...one, scope: "" }])
    expect(pool.take(at)).toBeUndefined();
  expect([1, 2, 3].map(() => pool.take(other)?.id)).toEqual(["S2", "S1", undefined]);
});

it("the pool of warm sandboxes forgets sandboxes that have died", () => {
  const pool = createWarmPool();
  pool.offer(item("0"), { id: "S1", ...until(1) });
  pool.offer(item("0"), { id: "S2", ...until(3) });
  pool.forgetDead(Date.parse(until(2).endsAt));
  expect([1, 2].map(() => pool.take(item("1"))?.id)).toEqual(["S2", undefined]);
});

it("the pool of warm sandboxes gives no sandbox of a joined fork, and no killed sandbox", () => {
  const pool = createWarmPool();
  for (const [id, branch] of [
    ["S1", item("0")],
    ["S2", item("0", 5)],
    ["S3", item("0", 5)],
  ] as const)
    pool.offer(branch, { id, ...until(1) });
  pool.forgetFork(item("1"));
  pool.forget(["S3"]);
  expect([pool.take(item("1")), pool.take(item("1", 5))?.id, pool.take(item("1", 5))]).toEqual([
    undefined,
    "S2",
    undefined,
  ]);
});

it("the pool of warm sandboxes reports for five seconds, and only once, that code has just ended in a sandbox", () => {
  const pool = createWarmPool();
  const sandbox = { id: "S1", ...until(1) };
  const isFreshAfter = (ms: number) => {
    pool.noteUse(sandbox, 1_000);
    return pool.takeFresh(sandbox, 1_000 + ms);
  };
  expect([4_999, 5_000].map(isFreshAfter)).toEqual([true, false]);
  expect([isFreshAfter(0), pool.takeFresh(sandbox, 1_000)]).toEqual([true, false]);
  pool.noteUse(sandbox, 1_000);
  pool.offer(item("0"), sandbox);
  pool.take(item("1"));
  expect(pool.takeFresh(sandbox, 1_000)).toBe(false);
  pool.noteUse(sandbox, 1_000);
  pool.forget(["S1"]);
  expect(pool.takeFresh(sandbox, 1_000)).toBe(false);
});

it("ten items of a map, two at a time, share a few sandboxes, and each item stays in one sandbox", async () => {
  const body = mapOver("m", [action("i"), action("k")], lines("i > k"));
  const story = await new Story(flow("shared", [body], lines("start > m > end"))).start(
    '{"list":[1,2,3,4,5,6,7,8,9,10]}',
  );
  await story.everything();
  await story.judge();
  expect(story.invariants.violations).toEqual([]);
  const boxes = story.begun.map(({ box, claim }) => `${claim.link.replace(/\.\d+$/, "")} ${box.id}`);
  expect(new Set(boxes).size).toBe(10);
  expect(story.world.sandboxes.boxes.size).toBeLessThanOrEqual(4);
});
