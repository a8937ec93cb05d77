import { createWarmPool } from "@nova/engine";
import { expect, it } from "vitest";
import { action, flow, lines, mapOver } from "../../support/engine/flows.ts";
import { Story } from "../../support/engine/story.ts";

const until = (second: number) => ({ createdAt: "", endsAt: `2026-01-01T00:00:0${second}.000Z` });

it("gives a sandbox away once, the last one first, to its own execution only", () => {
  const pool = createWarmPool();
  for (const id of ["S1", "S2", "S2"]) pool.offer("e", { id, ...until(1) });
  expect([pool.take("other"), pool.take("e")?.id, pool.take("e")?.id, pool.take("e")]).toEqual([
    ...[undefined, "S2", "S1", undefined],
  ]);
});

it("forgets what has died, and what belongs to an execution that is over", () => {
  const pool = createWarmPool();
  pool.offer("e", { id: "S1", ...until(1) });
  pool.offer("e", { id: "S2", ...until(3) });
  pool.offer("f", { id: "S3", ...until(3) });
  pool.forgetDead(Date.parse(until(2).endsAt));
  pool.takeAll("f");
  expect([pool.take("e")?.id, pool.take("e"), pool.take("f")]).toEqual(["S2", undefined, undefined]);
});

it("lets ten items, two at a time, share a few sandboxes, each from its first link to its last", async () => {
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
