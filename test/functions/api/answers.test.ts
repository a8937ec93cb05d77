import { beforeAll, describe, expect, it, vi } from "vitest";
import { useApi } from "./support/api.ts";

const api = useApi();
const ask = (id: string) => ({ id, type: "approval", message: "Pay?", choices: ["yes", "no"] });

/** A workflow with the approvals `first` and `second`. The answer "no" leads back to `first`. */
const twice = {
  id: "twice",
  nodes: [{ id: "start", type: "start" }, ask("first"), ask("second"), { id: "end", type: "end" }],
  edges: [
    { from: "start", to: "first" },
    { from: "first", to: "second", condition: "yes" },
    { from: "first", to: "first", condition: "no", max: 3 },
    { from: "first", to: "end", condition: "default" },
    { from: "second", to: "end", condition: "yes" },
    { from: "second", to: "end", condition: "no" },
  ],
};

beforeAll(async () => {
  expect(await api.call("POST /workflows", { body: twice })).toMatchObject({ status: 201 });
});

async function openTask(execution: string, not?: string): Promise<{ task_id: string; node: string }> {
  return vi.waitFor(async () => {
    const { body } = await api.call("GET /tasks?limit=200");
    const task = body.items.find(
      (item: { execution_id: string; task_id: string }) => item.execution_id === execution && item.task_id !== not,
    );
    expect(task).toBeDefined();
    return task;
  });
}

async function waiting() {
  const { body } = await api.call("POST /workflows/twice/execute", { body: {} });
  const id: string = body.execution_id;
  const at = `POST /executions/${id}/answer`;
  return { id, first: await openTask(id), answer: (said: object) => api.call(at, { body: said }) };
}

describe("an answer to an approval of an execution", () => {
  it.each([
    ["the next approver's task", "yes", "second", {}],
    ["the next visit of the same node", "no", "first", {}],
    ["the next visit of the same node, if the caller names the node", "no", "first", { node: "first" }],
  ])("is refused if it is sent a second time, so that it does not answer %s", async (_what, choice, next, name) => {
    const { id, first, answer } = await waiting();
    const said = { choice, by: "ann", ...name };
    expect(await answer(said)).toMatchObject({ status: 200, body: { task_id: first.task_id, node: "first" } });
    const open = await openTask(id, first.task_id);
    const again = await answer(said);
    expect(again.status).toBe(409);
    expect(again.body.detail).toMatch(/"first" was already answered by ann at /);
    expect(again.body.detail).toContain(`name the task to answer: ${open.task_id} (${next})`);
    expect((await api.call(`GET /tasks/${open.task_id}`)).body).toMatchObject({ status: "open", node: next });
    expect(await answer({ choice, task: open.task_id })).toMatchObject({ status: 200, body: { node: next } });
  });

  it("gets the result of the first request if it is repeated with its Idempotency-Key", async () => {
    const { id, first } = await waiting();
    const request = { body: { choice: "yes" }, headers: { "Idempotency-Key": `answer ${id}` } };
    const told = await api.call(`POST /executions/${id}/answer`, request);
    const open = await openTask(id, first.task_id);
    expect(await api.call(`POST /executions/${id}/answer`, request)).toMatchObject({ status: 200, body: told.body });
    expect((await api.call(`GET /tasks/${open.task_id}`)).body.status).toBe("open");
  });

  it("counts once if several callers answer at the same time", async () => {
    const { id, first, answer } = await waiting();
    const all = await Promise.all(["ann", "bob", "cid"].map((by) => answer({ choice: "yes", by })));
    expect(all.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    const open = await openTask(id, first.task_id);
    expect((await api.call(`GET /tasks/${open.task_id}`)).body).toMatchObject({ node: "second", status: "open" });
  });

  it("is refused if it names a task of another execution or another node", async () => {
    const [one, other] = [await waiting(), await waiting()];
    const foreign = await one.answer({ choice: "yes", task: other.first.task_id });
    const detail = `${one.id} has no task "${other.first.task_id}": it belongs to node "first" of ${other.id}`;
    expect([foreign.status, foreign.body.detail]).toEqual([404, expect.stringContaining(detail)]);
    const misnamed = await one.answer({ choice: "yes", task: one.first.task_id, node: "second" });
    expect([misnamed.status, misnamed.body.detail]).toEqual([404, expect.stringContaining('node "second" of')]);
    expect((await one.answer({ choice: "yes", task: `task_${"0".repeat(26)}` })).status).toBe(404);
    expect((await one.answer({ choice: "yes", task: one.first.task_id, node: "first" })).status).toBe(200);
  });

  it("answers a later approval of the execution if it names the node of that approval", async () => {
    const { id, first, answer } = await waiting();
    await answer({ choice: "yes" });
    await openTask(id, first.task_id);
    expect(await answer({ choice: "yes", node: "second" })).toMatchObject({ status: 200, body: { node: "second" } });
    const again = await answer({ choice: "no", node: "second", by: "bob" });
    expect([again.status, again.body.detail]).toEqual([409, expect.stringContaining("already answered by")]);
  });
});
