import { BatchWriteItemCommand, type WriteRequest } from "@aws-sdk/client-dynamodb";
import type { KeptEvent, TaskStore, WaitingTask, WakeShape, WakeStore } from "@nova/engine";
import { beforeAll, expect, test } from "vitest";
import { createTaskStore, createWakeStore, WakePlaces } from "../../../packages/aws/src/dynamodb/tasks.ts";
import { shapeOf, wakeOf } from "../../../packages/engine/src/kinds/waiting/bind-pattern.ts";
import { EventWait } from "../../support/engine/event-wait.ts";
import { useBucket, useTable } from "../support/endpoints.ts";

const table = useTable();
const bucket = useBucket();
let [tasks, wakes]: [TaskStore, WakeStore] = [] as never;
beforeAll(() => {
  const places = new WakePlaces(table);
  tasks = createTaskStore(table, places);
  wakes = createWakeStore(table, bucket, places);
});

const pattern = { source: ["crm"], detail: { customer: ["{{customer}}"] } };

function taskOf(customer: string): WaitingTask {
  const bound = { source: ["crm"], detail: { customer: [customer] } };
  return {
    format: 1,
    id: `task_${customer}`,
    execution: `exec_${customer}`,
    client: "acme",
    workflowId: "w",
    version: 1,
    scope: "",
    seq: 2,
    node: "pause",
    kind: "event",
    message: "",
    choices: [],
    to: [],
    status: "open",
    pattern: bound,
    createdAt: "2026-11-21T10:00:00.000Z",
    expiresAt: "2026-11-28T10:00:00.000Z",
    wake: wakeOf(shapeOf(pattern), bound),
  };
}

/** Sends an event. Returns the ids of the runs that the event wakes, and the read operations of the table. */
async function costOf(story: EventWait, detail: string): Promise<{ woken: string[]; reads: string[] }> {
  table.operations.length = 0;
  const woken = await story.emit(detail);
  return {
    woken,
    reads: table.operations.filter((operation) => /^(Query|GetItem|Scan)$/.test(operation)),
  };
}

/**
 * Writes the items of `count` waiting tasks in batches. The items equal the items that the store writes for one task.
 */
async function createMany(count: number): Promise<void> {
  const first = taskOf("other-0");
  table.requests.length = 0;
  await tasks.create(first);
  const items = table.requests.filter((request) => JSON.stringify(request).includes(first.id));
  expect(items).toHaveLength(2);
  const written = JSON.stringify(items.map(({ Item }) => ({ PutRequest: { Item } })));
  for (let from = 1; from < count; from += 12) {
    const others = Array.from({ length: Math.min(12, count - from) }, (_, i) => taskOf(`other-${from + i}`));
    const puts = others.flatMap(({ id, wake }): WriteRequest[] => {
      const named = written.replaceAll("other-0", id.slice("task_".length));
      return JSON.parse(named.replaceAll(first.wake?.keys[0] as string, wake?.keys[0] as string));
    });
    await table.client.send(new BatchWriteItemCommand({ RequestItems: { [table.table]: puts } }));
  }
}

test("the number of DynamoDB requests for an event does not depend on the number of runs that wait for events", async () => {
  const story = await new EventWait(pattern).begin('{"customer":"acme"}');
  story.ports = { ...story.ports, tasks, wakes };
  await story.wait();
  const ofOther = await costOf(story, '{"customer":"nobody"}');
  await createMany(1000);
  expect(await tasks.find("task_other-999")).toEqual(taskOf("other-999"));
  expect(await costOf(story, '{"customer":"nobody"}')).toEqual(ofOther);
  expect(ofOther).toEqual({ woken: [], reads: ["Query", "Query"] });
  const { woken, reads } = await costOf(story, '{"customer":"acme"}');
  expect(woken).toEqual([story.id]);
  // The event needs three reads: of the fields by which tasks are found, of the tasks under the event's key, and of the
  // task itself. The answer to the task needs three more reads: of the task's tokens, and twice of the run's open
  // tasks.
  expect(reads).toEqual(["Query", "Query", "GetItem", "Query", "Query", "Query"]);
  expect(await costOf(story, '{"customer":"acme"}')).toEqual({ woken: [], reads: ["Query", "Query"] });
});

test("the fields by which an event finds its waiting tasks are stored once, and again only to extend their time to live", async () => {
  const shape: WakeShape = ["hr", "detail", "person"];
  table.operations.length = 0;
  for (const day of ["01", "02", "20"]) await wakes.use({ shape, keepsEvents: true }, `2026-12-${day}T00:00:00Z`);
  expect(table.operations).toEqual(["PutItem"]);
  await wakes.use({ shape, keepsEvents: true }, "2027-06-01T00:00:00Z");
  expect(table.operations).toHaveLength(2);
  expect(await wakes.shapes()).toContainEqual({ shape, keepsEvents: true });
  const another = new WakePlaces(table);
  await another.use({ shape, keepsEvents: true }, "2027-01-01T00:00:00Z");
  await another.use({ shape, keepsEvents: false }, "2027-01-01T00:00:00Z");
  expect((await wakes.shapes()).filter((one) => one.shape[0] === "hr")).toHaveLength(2);
});

test("events are stored for a week, and are read in order from a given time on, including events that are too large for DynamoDB", async () => {
  const event = (n: number, text: string): KeptEvent => ({ id: `e${n}`, at: `2026-11-2${n}T10:00:00.000Z`, text });
  const [early, late, large] = [event(1, "{}"), event(3, '{"n":850.0}'), event(2, `{"text":"${"ü".repeat(300_000)}"}`)];
  for (const one of [late, early, large]) await wakes.keepEvent("0".repeat(32), one);
  expect(await Array.fromAsync(wakes.eventsAt("0".repeat(32), "2026-11-21T10:00:00.001Z"))).toEqual([large, late]);
  expect(await Array.fromAsync(wakes.eventsAt("1".repeat(32), ""))).toEqual([]);
  const put = table.requests.find(({ Item }) => (Item as { sk?: { S: string } })?.sk?.S.startsWith("E#2026-11-21")) as {
    Item: { expiresAt: { N: string } };
  };
  expect(put.Item.expiresAt.N).toBe(String(Date.parse("2026-11-28T10:00:00Z") / 1000));
});

test("an event does not wake a task that has ended", async () => {
  const task = taskOf("over");
  await tasks.create(task);
  const [key = ""] = task.wake?.keys ?? [];
  expect(await wakes.tasksAt(key)).toHaveLength(1);
  await tasks.move(task, ["open"], "answered");
  expect(await wakes.tasksAt(key)).toHaveLength(1);
  await tasks.move(task, ["answered"], "sent");
  expect(await wakes.tasksAt(key)).toEqual([]);
});
