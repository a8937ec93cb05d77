import { expect, it } from "vitest";
import { action, flow } from "../../support/engine/flows.ts";
import { Story, succeeds } from "../../support/engine/story.ts";

const one = flow(
  "one",
  [action("a")],
  [
    ["start", "a"],
    ["a", "end"],
  ],
); // prettier-ignore

async function closing(ended: (record: object) => void): Promise<Story> {
  const story = await new Story(one, { a: [succeeds("k", "1")] }).start();
  story.world.onExecutionEnded = (caller) => (record) =>
    caller.call({ name: "execution ended", effect: () => ended(record), outage: () => new Error("lost") });
  await story.finish(story.deliver("a", 0));
  return story;
}

it("tells the service how a run has ended while its record is still open", async () => {
  const told: unknown[] = [];
  const story = await closing((record) => told.push([record, story.world.record(story.id).open]));
  await story.finish(story.deliver("end", 1));
  const { open: _, ...record } = story.world.record(story.id);
  expect(told).toEqual([[{ ...record, open: true }, true]]);
  expect(record).toMatchObject({ status: "completed", tip: expect.any(String), nodes: 1 });
});

it("has a sweeper tell the service once more where the closer died before the record left the open index", async () => {
  let told = 0;
  const story = await closing(() => told++);
  const closer = story.deliver("end", 1);
  await story.until(closer, "leave the open index");
  closer.kill();
  await story.finish(story.sweeper());
  expect([told, story.world.record(story.id).open]).toEqual([2, false]);
});

it("tells the world once, however often what follows the end fails", async () => {
  let failures = 3;
  const story = await closing(() => {
    if (failures-- > 0) throw new Error("E2B does not answer");
  });
  await story.finish(story.deliver("end", 1)).catch(() => undefined);
  expect(story.world.record(story.id).open).toBe(true);
  for (let sweep = 0; sweep < 3; sweep++) await story.finish(story.sweeper()).catch(() => undefined);
  expect(story.world.record(story.id).open).toBe(false);
  const ends = story.world.events.published.filter(({ detail }) => detail.execution_id === story.id);
  expect(ends.map(({ type }) => type)).toEqual(["execution.completed"]);
});
