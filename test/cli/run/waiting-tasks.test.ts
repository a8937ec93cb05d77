import { createClient } from "@nova/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { watchTasks } from "../../../packages/cli/src/run/follow.ts";
import { type Reply, ScriptedServer } from "../../client/support/scripted-server.ts";

const id = `exec_${"0".repeat(26)}`;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function looking(...script: [string, Reply][]) {
  const server = new ScriptedServer(...script);
  const told: string[] = [];
  const nova = createClient({ url: "https://nova.example.com", apiKey: "key", fetch: server.fetch });
  const tasks = watchTasks(nova, ({ node, kind }) => told.push(`${node} ${kind}`), { untilEnd: async () => {} });
  return { server, tasks, told };
}

/** The answer for a run with `count` open nodes, of which only `nodes` are listed. */
const run = (count: number, ...nodes: object[]): [string, Reply] => [
  `GET /executions/${id}?references=true`,
  { body: { execution_id: id, status: "waiting", path: [], at_work: { count, nodes, maps: [] } } },
];
const asking = (node: string) => ({
  node_id: node,
  waits_for: { kind: "approval", until: null, task_id: `task_${node}`, message: "Go on?", choices: ["yes"] },
});

it("watchTasks reads an execution only one more time, however many nodes start to wait during a read", async () => {
  const { server, tasks, told } = looking(run(1, asking("a")), run(2, asking("a"), asking("b")));
  for (let i = 0; i < 5; i++) tasks.lookInBackground(id);
  await vi.runAllTimersAsync();
  server.expectDone();
  expect(told).toEqual(["a approval", "b approval"]);
});

it("watchTasks finds tasks in the task lists if an execution lists only some of its open nodes", async () => {
  const task = (node: string, execution_id = id) => ({ task_id: `task_${node}`, execution_id, node });
  const list = (kind: string, ...items: object[]): [string, Reply] => [
    `GET /tasks?kind=${kind}`,
    { body: { items, next_cursor: null } },
  ];
  const lists = [list("approval", task("a"), task("b"), task("c", "exec_other")), list("event", task("d"))];
  const { server, tasks, told } = looking(run(30, asking("a")), ...lists);
  expect(await tasks.look(id)).toBe(true);
  server.expectDone();
  expect(told).toEqual(["a approval", "b approval", "d event"]);
});
