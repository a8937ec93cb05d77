import { expect, it } from "vitest";
import { headOf } from "../../../packages/engine/src/chain/entry.ts";
import { action, flow, lines, mapOver } from "../../support/engine/flows.ts";
import { fails, Story, succeeds } from "../../support/engine/story.ts";

/** Returns the last entry of a scope, with the status of its node and the sandbox in which its code ran. */
function endOf(story: Story, scope: string): { status: string; sandbox: string | null } {
  const { status, sandbox_id } = headOf(story.entriesOf(scope).at(-1) as Parameters<typeof headOf>[0]);
  return { status, sandbox: sandbox_id };
}

it("a node after a map does not start in a sandbox that was lost after an item of the map had used it", async () => {
  const body = mapOver("m", [action("i", { onError: "k" }), action("k")], lines(), { maxConcurrency: 1 });
  const story = await new Story(flow("lost", [body, action("after")], lines("start > m > after > end"))).start(
    '{"list":[1,2]}',
  );
  await story.finish(story.deliver("m", 0));
  await story.finish(story.deliver("i", 0, { scope: "/m@1.0" }));
  story.codeStopsAt = "finish";
  const second = story.deliver("i", 0, { scope: "/m@1.1" });
  await story.until(second, "fetch").catch(() => undefined);
  const lost = story.begun.at(-1)?.box.id ?? "";
  story.world.sandboxes.kill(lost);
  story.codeStopsAt = undefined;
  await story.finish(second);
  await story.finish(story.deliver("k", 1, { scope: "/m@1.1" }));
  await story.finish(story.join("m", 1));
  await story.finish(story.deliver("after", 2));
  expect(endOf(story, "/m@1.0").sandbox).toBe(lost);
  expect(endOf(story, "")).toEqual({ status: "success", sandbox: expect.not.stringContaining(lost) });
});

it("a node does not start in a sandbox that was killed because a node in another branch had a long delay before its next attempt", async () => {
  const ids = ["f", "a", "b", "c", "d", "j", "y", "after", "p", "q", "r", "last"];
  const x = action("x", { retry: { attempts: 2, delaySeconds: 90 }, timeoutSeconds: 60 });
  const paths = [
    "start > f > a > j > x > after > p > last > end",
    "f > b > j",
    "f > c > j",
    "f > d > j",
    "j > y > after",
    "after > q > last",
    "after > r > last",
  ];
  const slow = ["a", "b", "c", "d"];
  const scripts = Object.fromEntries(slow.map((id) => [id, [succeeds(id, "1", { pauses: 3 })]]));
  const workflow = flow("waits", [x, ...ids.map((id) => action(id))], lines(...paths));
  const story = await new Story(workflow, { ...scripts, x: [fails("once"), succeeds("x", "1")] }).start();
  await story.finish(story.deliver("f", 0));
  await story.finish(...slow.map((id) => story.deliver(id, 0, { scope: `/f@1.${id}` })));
  await story.finish(story.join("f", 1));
  await story.finish(story.deliver("j", 2));
  await story.finish(story.deliver("y", 0, { scope: "/j@3.y" }));
  await story.finish(story.deliver("x", 0, { scope: "/j@3.x" })).catch(() => undefined);
  const alive = story.world.sandboxes.alive().map(({ id }) => id);
  story.world.clock.advance(90_000);
  await story.finish(story.deliver("x", 0, { scope: "/j@3.x" }));
  const { spare = [] } = headOf(story.entriesOf("/j@3.x").at(-1) as Parameters<typeof headOf>[0]);
  expect(spare.filter(({ id }) => !alive.includes(id))).toEqual([]);
  await story.finish(story.join("j", 3));
  await story.finish(story.deliver("after", 4));
  for (const id of ["p", "q", "r"]) {
    const scope = `/after@5.${id}`;
    await story.finish(story.deliver(id, 0, { scope }));
    expect(endOf(story, scope)).toMatchObject({ status: "success" });
  }
});
