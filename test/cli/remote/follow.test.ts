import { createClient } from "@nova/client";
import type { NodeEvent } from "@nova/local";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Interrupt } from "../../../packages/cli/src/interrupt.ts";
import { followOnServer } from "../../../packages/cli/src/remote/follow.ts";
import { type Reply, ScriptedServer } from "../../client/support/scripted-server.ts";

const id = `exec_${"0".repeat(26)}`;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const never = { wish: () => new Promise<void>(() => {}) } as unknown as Interrupt;
const atOnce = { wish: async () => {} } as unknown as Interrupt;

const run = (status: string): [string, Reply] => [`GET /executions/${id}`, { body: { status } }];
const chain = (...items: object[]): [string, Reply] => [
  `GET /executions/${id}/chain`,
  { body: { items, next_cursor: null } },
];
const entry = (seq: number, node_id: string, more: object = {}) => ({
  ...{ seq, scope: "", node_id, node_type: "action", status: "success" },
  ...more,
});
const task = (execution_id = id) => ({ task_id: "task_1", execution_id, node: "ask", message: "Go on?", choices: [] });

async function follow(interrupt: Interrupt, ...script: [string, Reply][]) {
  const server = new ScriptedServer(...script);
  const nova = createClient({ url: "https://nova.example.com", apiKey: "key", fetch: server.fetch });
  const [events, tasks] = [[] as NodeEvent[], [] as string[]];
  const following = followOnServer(nova, id, interrupt, {
    onEvent: (event) => events.push(event),
    onTask: ({ execution, node }) => tasks.push(`${node} of ${execution}`),
  });
  await vi.runAllTimersAsync();
  await following;
  server.expectDone();
  return { events, tasks };
}

describe("a run on a server", () => {
  it("is told link by link, each once", async () => {
    const [start, close] = [entry(0, "start", { node_type: "start" }), entry(3, "(close)", { node_type: "close" })];
    const failed = entry(2, "b", { status: "failed" });
    const { events } = await follow(
      never,
      ...[run("running"), chain(start, entry(1, "a")), run("failed"), chain(start, entry(1, "a"), failed, close)],
    );
    expect(events).toEqual([
      { node: "a", state: "succeeded" },
      { node: "b", state: "failed" },
    ]);
  });

  it("says of what was taken over that it is reused", async () => {
    const reused = entry(1, "a", { reused_from: { execution_id: id, scope: "", seq: 1 } });
    const { events } = await follow(never, run("completed"), chain(reused, entry(2, "b", { reused_from: null })));
    expect(events).toEqual([
      { node: "a", state: "succeeded", message: "reused" },
      { node: "b", state: "succeeded" },
    ]);
  });

  it("tells the nodes of items with their numbers", async () => {
    const inItem = { scope: "/each@2.1", path_taken: "add" };
    const branches = [{ branch: "1", entries: [entry(1, "double", inItem)] }];
    const { events } = await follow(never, run("completed"), chain(entry(2, "each", { branches })));
    const place = { map: "each", items: [1] };
    expect(events).toEqual([
      { node: "each", state: "succeeded", count: 1 },
      { node: "double", state: "succeeded", ...place },
      { node: "add", state: "started", ...place },
    ]);
  });

  it("says what it waits for, once and of itself alone", async () => {
    const waits: [string, Reply] = ["GET /tasks", { body: { items: [task(), task("exec_other")], next_cursor: null } }];
    const steps = [run("waiting"), chain(), waits, run("waiting"), chain(), waits, run("completed"), chain()];
    expect((await follow(never, ...steps)).tasks).toEqual([`ask of ${id}`]);
  });

  it("is cancelled by Ctrl-C", async () => {
    const cancel: [string, Reply] = [`POST /executions/${id}/cancel`, { body: { status: "cancelled" } }];
    await follow(atOnce, run("running"), chain(), cancel, run("cancelled"), chain());
  });

  it("is left where it waits for somebody by Ctrl-C", async () => {
    await follow(atOnce, run("waiting"), chain(), ["GET /tasks", { body: { items: [task()], next_cursor: null } }]);
  });
});
