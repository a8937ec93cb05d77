import type { WaitingTask } from "@nova/engine";
import { expect, it } from "vitest";
import { refreshStatus } from "../../../packages/engine/src/task/status.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { Asked, asking } from "../../support/engine/waiting.ts";

/** Two tasks of one run, as in two branches; the first waits, the second comes and goes. */
async function withTwo(): Promise<{ story: Asked; second: WaitingTask }> {
  const story = await new Asked(asking()).begin();
  await story.finish(story.request());
  const second = { ...story.task, id: "task_second" };
  return { story, second };
}

it("says that a run waits as long as one of its tasks is open", async () => {
  const { story, second } = await withTwo();
  await story.ports.tasks.create(second);
  await story.ports.tasks.move(second, ["open"], "sent");
  await refreshStatus(story.ports, story.id);
  expect(story.status).toBe("waiting");
});

it("looks again after each change, so that whoever looks last leaves the truth", async () => {
  const { story, second } = await withTwo();
  const { tasks } = story.world;
  tasks.port(atOnce).move(story.task, ["open"], "sent");
  const refreshing = story.world.spawn("refresh", (ports) => refreshStatus(ports, story.id));
  await story.until(refreshing, "set status running");
  tasks.port(atOnce).create(second);
  await story.finish(refreshing);
  expect(story.status).toBe("waiting");
});

it("does not touch the status of a run that is over", async () => {
  const { story } = await withTwo();
  await story.finish(story.cancel());
  await refreshStatus(story.ports, story.id);
  expect(story.status).toBe("cancelled");
});
