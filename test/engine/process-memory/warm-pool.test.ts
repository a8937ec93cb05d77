import { createWarmPool } from "@nova/engine";
import { expect, it } from "vitest";
import { action, flow, lines, mapOver } from "../../support/engine/flows.ts";
import { Story } from "../../support/engine/story.ts";

const until = (second: number) => ({ createdAt: "", endsAt: `2026-01-01T00:00:0${second}.000Z` });
const item = (branch: string, seq = 1) => ({ execution: "e", scope: `/m@${seq}.${branch}` });

it("gives a sandbox away once, the last one first, to another branch of the same fork only", () => {
  const pool = createWarmPool();
  const [one, other] = [item("0"), item("1")];
  for (const id of ["S1", "S2", "S2"]) pool.offer(one, { id, ...until(1) });
  for (const at of [item("0", 5), { ...one, execution: "f" }, { ...one, scope: "" }])
    expect(pool.take(at)).toBeUndefined();
  expect([1, 2, 3].map(() => pool.take(other)?.id)).toEqual(["S2", "S1", undefined]);
});

it("forgets what has died", () => {
  const pool = createWarmPool();
  pool.offer(item("0"), { id: "S1", ...until(1) });
  pool.offer(item("0"), { id: "S2", ...until(3) });
  pool.forgetDead(Date.parse(until(2).endsAt));
  expect([1, 2].map(() => pool.take(item("1"))?.id)).toEqual(["S2", undefined]);
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
