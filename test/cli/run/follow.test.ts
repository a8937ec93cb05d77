import { createClient } from "@nova/client";
import type { NodeEvent } from "@nova/local";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Interrupt } from "../../../packages/cli/src/interrupt.ts";
import { followRun, type RunListener } from "../../../packages/cli/src/run/follow.ts";
import { type Reply, ScriptedServer } from "../../client/support/scripted-server.ts";

const id = `exec_${"0".repeat(26)}`;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const never = { requested: () => new Promise<void>(() => {}) } as unknown as Interrupt;
const atOnce = { requested: async () => {} } as unknown as Interrupt;

/** The answer to a request for the run: its current state, with `nodes` as the open nodes. */
const run = (status: string, path: string[] = [], nodes: object[] = [], execution = id): [string, Reply] => [
  `GET /executions/${execution}?references=true`,
  { body: { execution_id: execution, status, path, at_work: { count: nodes.length, nodes, maps: [] } } },
];
/**
 * The answer to a request for the chain. `whole` is the number of entries at the start of the main line that the
 * command does not read again.
 */
const chain = (whole: number, ...items: object[]): [string, Reply] => [
  `GET /executions/${id}/chain?cursor=${Buffer.from(String(whole)).toString("base64url")}`,
  { body: { items, next_cursor: null } },
];
const entry = (seq: number, node_id: string, more: object = {}) => ({
  seq,
  scope: "",
  node_id,
  node_type: "action",
  status: "success",
  timestamp: `2026-11-22T00:00:0${seq}Z`,
  ...more,
});
const asking = (task_id: string) => ({
  node_id: "ask",
  waits_for: { kind: "approval", until: null, task_id, message: "Go on?", choices: ["yes"] },
});

async function follow(interrupt: Interrupt, ...script: [string, Reply][]) {
  const server = new ScriptedServer(...script);
  const nova = createClient({ url: "https://nova.example.com", apiKey: "key", fetch: server.fetch });
  const [events, tasks] = [[] as NodeEvent[], [] as string[]];
  const listener: RunListener = {
    onEvent: (event) => events.push(event),
    onTask: ({ execution, node }) => tasks.push(`${node} of ${execution}`),
  };
  const following = followRun(nova, id, { interrupt, listener });
  await vi.runAllTimersAsync();
  const ran = await following;
  server.expectDone();
  return { events, tasks, ran };
}

describe("a run on a server that nova run follows", () => {
  it("is printed entry by entry, each entry once", async () => {
    const [start, close] = [entry(0, "start", { node_type: "start" }), entry(3, "(close)", { node_type: "close" })];
    const failed = entry(2, "b", { status: "failed" });
    const { events, ran } = await follow(
      never,
      run("running", ["start", "a"]),
      chain(0, start, entry(1, "a")),
      run("running", ["start", "a"]),
      run("failed", ["start", "a", "b"]),
      chain(2, failed, close),
      run("failed", ["start", "a", "b"]),
    );
    expect(events).toEqual([
      { node: "a", state: "succeeded" },
      { node: "b", state: "failed" },
    ]);
    expect(ran).toMatchObject({ execution_id: id, status: "failed", path: ["start", "a", "b"], counters: null });
  });

  it("is printed with a mark at each entry that reuses an earlier outcome", async () => {
    const reused = entry(1, "a", { reused_from: { execution_id: id, scope: "", seq: 1 } });
    const { events } = await follow(
      never,
      run("completed"),
      chain(0, reused, entry(2, "b", { reused_from: null })),
      run("completed"),
    );
    expect(events).toEqual([
      { node: "a", state: "succeeded", message: "reused" },
      { node: "b", state: "succeeded" },
    ]);
  });

  it("is printed with the numbers of map items", async () => {
    const inItem = { scope: "/each@2.1", path_taken: "add", timestamp: "2026-11-22T00:00:03Z" };
    const branches = [{ branch: "1", entries: [entry(1, "double", inItem)] }];
    const { events } = await follow(
      never,
      run("completed"),
      chain(0, entry(2, "each", { branches })),
      run("completed"),
    );
    const place = { map: "each", items: [1] };
    expect(events).toEqual([
      { node: "each", state: "succeeded", count: 1 },
      { node: "double", state: "succeeded", ...place },
      { node: "add", state: "started", ...place },
    ]);
  });

  it("is printed as waiting once for each of its tasks, and for each task of a child execution", async () => {
    const child = `exec_${"1".repeat(26)}`;
    const nodes = [asking("task_1"), { node_id: "bill", waits_for: { kind: "workflow", execution_id: child } }];
    const inside = run("waiting", [], [asking("task_2")], child);
    const { tasks } = await follow(
      never,
      run("waiting", [], nodes),
      chain(0),
      inside,
      run("waiting", [], nodes),
      inside,
      run("completed"),
      chain(0),
      run("completed"),
    );
    expect(tasks).toEqual([`ask of ${id}`, `ask of ${child}`]);
  });

  const cancel: [string, Reply] = [`POST /executions/${id}/cancel`, { body: { status: "cancelled" } }];
  const waitsForTime = [{ node_id: "pause", waits_for: { kind: "time", until: null } }];

  it.each([
    ["while it runs", run("running")],
    ["while it waits for a certain time", run("waiting", [], waitsForTime)],
  ])("is cancelled by Ctrl-C %s", async (_when, stands) => {
    await follow(atOnce, stands, stands, chain(0), cancel, run("cancelled"), chain(0), run("cancelled"));
  });

  it.each([
    ["it waits for an answer", [asking("task_1")]],
    ["the server does not list the task for which it waits", []],
  ])("stays open after Ctrl-C if %s", async (_where, nodes) => {
    const stands = run("waiting", [], nodes);
    const { ran } = await follow(atOnce, stands, stands, chain(0), stands);
    expect(ran.status).toBe("waiting");
  });
});
