import type { TaskStatus, TaskStore, WaitingTask } from "@nova/engine";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createTaskStore } from "../../../packages/aws/src/dynamodb/tasks.ts";
import { useTable } from "../support/endpoints.ts";

const table = useTable();
let tasks: TaskStore;
beforeAll(() => {
  tasks = createTaskStore(table);
});

const base: WaitingTask = {
  format: 1,
  id: "task_01",
  execution: "exec_01",
  client: "globex",
  workflowId: "invoice",
  version: 3,
  scope: "",
  seq: 4,
  node: "ask",
  kind: "approval",
  message: "Pay 12 EUR?",
  form: { type: "object", properties: { n: { maximum: 1e300 } } },
  forms: { later: { properties: { n: { minimum: 1e300 } } } },
  choices: ["approved", "rejected"],
  to: ["boss@example.com"],
  status: "open",
  createdAt: "2026-11-21T10:00:00.000Z",
  expiresAt: "2026-11-28T10:00:00.000Z",
};

test("a task is stored once for each id, and returned with exact numbers, even numbers that DynamoDB cannot store", async () => {
  expect(await tasks.create(base)).toBe(true);
  expect(await tasks.create({ ...base, message: "another" })).toBe(false);
  expect(await tasks.get(base)).toEqual(base);
  expect(await tasks.find(base.id)).toEqual(base);
});

test("a task that cannot be read is left out of the waiting tasks, with a warning", async () => {
  const warn = vi.spyOn(process, "emitWarning").mockReturnValue();
  await tasks.create({ ...base, execution: "exec_damaged", id: "task_damaged", format: 2 as 1 });
  await tasks.create({ ...base, id: "task_sound" });
  const pending = (await Array.fromAsync(tasks.pending())).map(({ id }) => id);
  expect(pending).toContain("task_sound");
  expect(pending).not.toContain("task_damaged");
  expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^task "task_damaged" of exec_damaged cannot be read/));
  warn.mockRestore();
});

test("the result of the last mail about a task is recorded in the task, but not if the task was erased", async () => {
  await tasks.create({ ...base, id: "task_mailed" });
  const [key, mail] = [
    { ...base, id: "task_mailed" },
    { to: ["a@b.c"], at: base.createdAt },
  ];
  await tasks.noteMail(key, { ...mail, problem: "away" });
  await tasks.noteMail(key, mail);
  expect(await tasks.get(key)).toEqual({ ...key, mail });
  await tasks.noteMail({ ...base, id: "task_gone" }, mail);
  expect(await tasks.get({ ...base, id: "task_gone" })).toBeUndefined();
});

test("a task with an unknown id is not found", async () => {
  expect(await tasks.get({ execution: "exec_01", id: "task_none" })).toBeUndefined();
  expect(await tasks.find("task_none")).toBeUndefined();
  expect(await tasks.move({ execution: "exec_01", id: "task_none" }, ["open"], "expired")).toBe(false);
});

test("only pending tasks are listed, oldest first", async () => {
  const event: WaitingTask = { ...base, kind: "event", message: "", choices: [], pattern: { source: ["shop"] } };
  for (const [n, status] of (["open", "answered", "sent", "expired"] as TaskStatus[]).entries()) {
    await tasks.create({ ...event, id: `task_list_${n}`, status, createdAt: `2026-11-2${9 - n}T10:00:00.000Z` });
  }
  const pending = (await Array.fromAsync(tasks.pending())).filter(({ id }) => id.startsWith("task_list"));
  expect(pending.map(({ id }) => id)).toEqual(["task_list_1", "task_list_0"]);
  expect(pending[0]?.pattern).toEqual({ source: ["shop"] });
});

test("the pending approvals of one client are listed with one read", async () => {
  const own = { ...base, client: "acme" };
  await tasks.create({ ...own, id: "task_of_1" });
  await tasks.create({ ...own, id: "task_of_2", createdAt: "2026-11-20T10:00:00.000Z" });
  await tasks.create({ ...own, id: "task_of_3", kind: "event" });
  await tasks.create({ ...own, id: "task_of_4", status: "sent" });
  await tasks.create({ ...own, id: "task_of_5", client: "acme-2" });
  const idsOf = async (client: string, from?: string) =>
    (await Array.fromAsync(tasks.pendingOf(client, "approval", from))).map(({ id }) => id);
  using send = vi.spyOn(table.client, "send");
  expect(await idsOf("acme")).toEqual(["task_of_2", "task_of_1"]);
  expect(send).toHaveBeenCalledTimes(1);
  expect(await idsOf("acme", base.createdAt)).toEqual(["task_of_1"]);
  expect(await idsOf("initech")).toEqual([]);
  expect((await Array.fromAsync(tasks.pendingOf("acme", "event"))).map(({ id }) => id)).toEqual(["task_of_3"]);
  await tasks.move({ ...own, id: "task_of_1" }, ["open"], "answered");
  expect(await idsOf("acme")).toEqual(["task_of_2", "task_of_1"]);
  await tasks.move({ ...own, id: "task_of_1" }, ["answered"], "sent");
  expect(await idsOf("acme")).toEqual(["task_of_2"]);
  expect(await tasks.find("task_of_1")).toEqual({ ...own, id: "task_of_1", status: "sent" });
});

test("pending tasks can be listed from a given time on", async () => {
  await tasks.create({ ...base, id: "task_late", createdAt: "2026-12-01T10:00:00.000Z" });
  const late = await Array.fromAsync(tasks.pending("2026-12-01T10:00:00.000Z"));
  expect(late.map(({ id }) => id)).toEqual(["task_late"]);
});

describe("the change of a task's status", () => {
  test.each<[TaskStatus, TaskStatus[], TaskStatus, boolean]>([
    ["open", ["open"], "answered", true],
    ["answered", ["open", "answered"], "sent", true],
    ["sent", ["open", "answered"], "expired", false],
  ])(
    "from the status %s, by a caller that expects one of %j, to the status %s returns %s",
    async (status, from, to, moved) => {
      const task = { ...base, id: `task_${status}_${to}`, status };
      await tasks.create(task);
      expect(await tasks.move(task, from, to, "2026-11-22T10:00:00.000Z")).toBe(moved);
      const after = moved ? { ...task, status: to, answeredAt: "2026-11-22T10:00:00.000Z" } : task;
      expect(await tasks.get(task)).toEqual(after);
    },
  );

  test("to a final status removes the task from the pending tasks", async () => {
    const task = { ...base, id: "task_ends" };
    await tasks.create(task);
    await tasks.move(task, ["open"], "expired");
    expect((await Array.fromAsync(tasks.pending())).map(({ id }) => id)).not.toContain(task.id);
    expect(await tasks.ofExecution(task.execution)).toContainEqual({ ...task, status: "expired" });
  });
});

test("hasOpen finds the only open task of an execution among many answered tasks", async () => {
  const execution = "exec_busy";
  for (let n = 0; n < 5; n++) await tasks.create({ ...base, execution, id: `task_busy_${n}`, status: "sent" });
  expect(await tasks.hasOpen(execution)).toBe(false);
  await tasks.create({ ...base, execution, id: "task_busy_9" });
  expect(await tasks.hasOpen(execution)).toBe(true);
});

test("the Step Functions tokens of a task are returned without the tokens of other tasks", async () => {
  const [one, two] = [
    { execution: "exec_02", id: "task_1" },
    { execution: "exec_02", id: "task_2" },
  ];
  await tasks.putToken(one, { key: "a", sealed: "sealed a" });
  await tasks.putToken(one, { key: "b", sealed: "sealed b" });
  await tasks.putToken(one, { key: "a", sealed: "sealed a again" });
  await tasks.putToken(two, { key: "a", sealed: "of another" });
  expect(await tasks.tokens(one)).toEqual([
    { key: "a", sealed: "sealed a again" },
    { key: "b", sealed: "sealed b" },
  ]);
});
