import type { WaitingTask } from "@nova/engine";
import { expect, it } from "vitest";
import { refreshStatus } from "../../../packages/engine/src/protocol/record.ts";
import { action, flow, lines } from "../../support/engine/flows.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { Story, succeeds } from "../../support/engine/story.ts";
import { Asked, asking } from "../../support/engine/waiting.ts";

/**
 * A run with two tasks, which may belong to two branches. The first task is open. Each test opens or ends the second
 * task.
 */
async function withTwo(): Promise<{ story: Asked; second: WaitingTask }> {
  const story = await new Asked(asking()).begin();
  await story.finish(story.request());
  const second = { ...story.task, id: "task_second" };
  return { story, second };
}

it("a record has the status `waiting` as long as one of the tasks of its run is open", async () => {
  const { story, second } = await withTwo();
  await story.ports.tasks.create(second);
  await story.ports.tasks.move(second, ["open"], "sent");
  await refreshStatus(story.ports, story.id);
  expect(story.status).toBe("waiting");
});

it("an update of a run's status reads the tasks again after each change, so that the last caller writes the true status", async () => {
  const { story, second } = await withTwo();
  const { tasks } = story.world;
  tasks.port(atOnce).move(story.task, ["open"], "sent");
  const refreshing = story.world.spawn("refresh", (ports) => refreshStatus(ports, story.id));
  await story.until(refreshing, "set status running");
  tasks.port(atOnce).create(second);
  await story.finish(refreshing);
  expect(story.status).toBe("waiting");
});

it("an update of a run's status does not change the status of a run that has ended", async () => {
  const { story } = await withTwo();
  await story.finish(story.cancel());
  await refreshStatus(story.ports, story.id);
  expect(story.status).toBe("cancelled");
});

/**
 * Puts the run inside an outer run, and the outer run inside an outermost run. Returns the ids of the outer and the
 * outermost run.
 */
async function inside(story: Asked): Promise<string[]> {
  const record = story.world.record(story.id);
  const parent = (execution: string) => ({ execution, scope: "", seq: 1, depth: 1 });
  await story.ports.executions.create({ ...record, id: "exec_outermost" });
  await story.ports.executions.create({ ...record, id: "exec_outer", parent: parent("exec_outermost") });
  await story.ports.executions.update(story.id, { parent: parent("exec_outer") });
  return ["exec_outer", "exec_outermost"];
}

it("the outer runs of a run have the status `waiting` as long as the inner run waits", async () => {
  const story = await new Asked(asking()).begin();
  const outer = await inside(story);
  const statuses = () => outer.map((id) => story.world.record(id).status);
  await story.finish(story.request());
  expect(statuses()).toEqual(["waiting", "waiting"]);
  await story.finish(story.answering());
  expect(statuses()).toEqual(["running", "running"]);
});

it("the outer runs of a waiting run are `running` again after the inner run is cancelled", async () => {
  const story = await new Asked(asking()).begin();
  const outer = await inside(story);
  await story.finish(story.request());
  await story.finish(story.cancel());
  expect(story.status).toBe("cancelled");
  expect(outer.map((id) => story.world.record(id).status)).toEqual(["running", "running"]);
});

it("a run with a task of its own stays `waiting` after its inner run stops waiting", async () => {
  const story = await new Asked(asking()).begin();
  await inside(story);
  await story.finish(story.request());
  await story.ports.tasks.create({ ...story.task, id: "task_outer", execution: "exec_outer" });
  await story.finish(story.answering());
  expect(story.world.record("exec_outer").status).toBe("waiting");
});

const one = flow("one", [action("a")], lines("start > a > end"));

async function closing(ended: (record: object) => void): Promise<Story> {
  const story = await new Story(one, { a: [succeeds("k", "1")] }).start();
  story.world.onExecutionEnded = (caller) => (record) =>
    caller.call({ name: "execution ended", effect: () => ended(record), outage: () => new Error("lost") });
  await story.finish(story.deliver("a", 0));
  return story;
}

it("a close calls the hook for ended runs, and only then takes the record out of the open index", async () => {
  const told: unknown[] = [];
  const story = await closing((record) => told.push([record, story.world.record(story.id).open]));
  await story.finish(story.deliver("end", 1));
  const { open: _, ...record } = story.world.record(story.id);
  expect(told).toEqual([[{ ...record, open: true }, true]]);
  expect(record).toMatchObject({ status: "completed", tip: expect.any(String), nodes: 1 });
});

it("a sweep calls the hook for ended runs again if a Lambda died before it took the closed run out of the open index", async () => {
  let told = 0;
  const story = await closing(() => told++);
  const closer = story.deliver("end", 1);
  await story.until(closer, "leave the open index");
  closer.kill();
  await story.finish(story.sweeper());
  expect([told, story.world.record(story.id).open]).toEqual([2, false]);
});

it("a close publishes the event that the run has ended once, even if later steps of the close fail several times", async () => {
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
