import type { WaitingTask } from "@nova/engine";
import { expect, it } from "vitest";
import { refreshStatus } from "../../../packages/engine/src/protocol/record.ts";
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

it("looks again after each change, so that the last caller writes the true status", async () => {
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

/** The run of the node of another one, and that of the node of a third. */
async function inside(story: Asked): Promise<string[]> {
  const record = story.world.record(story.id);
  const parent = (execution: string) => ({ execution, scope: "", seq: 1, depth: 1 });
  await story.ports.executions.create({ ...record, id: "exec_outermost" });
  await story.ports.executions.create({ ...record, id: "exec_outer", parent: parent("exec_outermost") });
  await story.ports.executions.update(story.id, { parent: parent("exec_outer") });
  return ["exec_outer", "exec_outermost"];
}

it("is that of the runs around it, as long as it waits", async () => {
  const story = await new Asked(asking()).begin();
  const outer = await inside(story);
  const statuses = () => outer.map((id) => story.world.record(id).status);
  await story.finish(story.request());
  expect(statuses()).toEqual(["waiting", "waiting"]);
  await story.finish(story.answering());
  expect(statuses()).toEqual(["running", "running"]);
});

it("is that of the runs around it no longer when it is cancelled", async () => {
  const story = await new Asked(asking()).begin();
  const outer = await inside(story);
  await story.finish(story.request());
  await story.finish(story.cancel());
  expect(story.status).toBe("cancelled");
  expect(outer.map((id) => story.world.record(id).status)).toEqual(["running", "running"]);
});

it("of a run that waits itself stays after its inner run stops waiting", async () => {
  const story = await new Asked(asking()).begin();
  await inside(story);
  await story.finish(story.request());
  await story.ports.tasks.create({ ...story.task, id: "task_outer", execution: "exec_outer" });
  await story.finish(story.answering());
  expect(story.world.record("exec_outer").status).toBe("waiting");
});
