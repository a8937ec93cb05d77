import { readTrace, renderJson, requestApproval, runNode } from "@nova/engine";
import type { ApprovalNode, Node, WaitNode } from "@nova/workflow";
import { expect, it } from "vitest";
import { action, flow, lines, mapOver } from "../../support/engine/flows.ts";
import type { Script } from "../../support/engine/harness.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { fails, Story, succeeds } from "../../support/engine/story.ts";

const atWork = async (story: Story) => (await readTrace(story.world.ports(atOnce), story.id)).atWork;

/** A story whose second node has started. */
async function waiting(node: Node): Promise<Story> {
  const story = await new Story(flow("waits", [action("a"), node], lines(`start > a > ${node.id} > end`))).start();
  await story.finish(story.deliver("a", 0));
  return story;
}

const event = (story: Story, node: string) => {
  const { workflowId, version } = story.world.record(story.id);
  return { execution: { id: story.id, workflowId, version }, scope: "", seq: 1, node };
};

it("the node in flight is listed with start and attempt until it ends", async () => {
  const story = await new Story(flow("runs", [action("a")], lines("start > a > end"))).start();
  expect(await atWork(story)).toEqual({ count: 0, nodes: [], maps: [] });
  const delivery = story.deliver("a", 0);
  await story.until(delivery, "wait");
  const since = story.world.chain.at({ execution: story.id, scope: "", seq: 1 }).turn?.since;
  const node = { node_id: "a", node_type: "action", scope: "", seq: 1, attempt: 1, since, waits_for: null };
  expect(await atWork(story)).toEqual({ count: 1, nodes: [node], maps: [] });
  await story.finish(delivery);
  await story.everything();
  expect(await atWork(story)).toEqual({ count: 0, nodes: [], maps: [] });
});

it("a wait is listed with its end", async () => {
  const pause: WaitNode = { id: "pause", type: "wait", for: { kind: "seconds", seconds: 900 } };
  const story = await waiting(pause);
  const until = story.world.clock.iso(story.world.clock.now + 900_000);
  await runNode(story.world.ports(atOnce), event(story, "pause"), new AbortController().signal);
  expect((await atWork(story)).nodes).toMatchObject([{ node_id: "pause", waits_for: { kind: "time", until } }]);
});

it("an approval is listed with its question and end", async () => {
  const ask: ApprovalNode = {
    id: "ask",
    type: "approval",
    message: "Pay?",
    choices: ["yes", "no"],
    to: [],
    into: "ask",
    timeoutSeconds: 60,
  };
  const story = await waiting(ask);
  const until = story.world.clock.iso(story.world.clock.now + 60_000);
  const asked = await requestApproval(story.world.ports(atOnce), { ...event(story, "ask"), token: "t" });
  const [node] = (await atWork(story)).nodes;
  const task = { task_id: asked.task, message: "Pay?", choices: ["yes", "no"] };
  expect(node?.waits_for).toEqual({ kind: "approval", until, ...task });
});

it("a wait for an event is listed with its pattern and all its digits", async () => {
  const pattern = { source: ["crm"], detail: { order: ["{{order}}"] } };
  const wait: WaitNode = { id: "crm", type: "wait", for: { kind: "event", pattern, timeoutSeconds: 60, into: "crm" } };
  const workflow = flow("waits", [action("a"), wait], lines("start > a > crm > end"));
  const story = await new Story(workflow).start('{"order":12345678901234567890}');
  await story.finish(story.deliver("a", 0));
  await requestApproval(story.world.ports(atOnce), { ...event(story, "crm"), token: "t" });
  const [node] = (await atWork(story)).nodes;
  expect(renderJson(node?.waits_for)).toContain(
    '"pattern":{"source":["crm"],"detail":{"order":[12345678901234567890]}}',
  );
});

it("a node between two attempts is listed with the start of the next one", async () => {
  const story = await new Story(flow("tries", [action("a")], lines("start > a > end"))).start();
  const due = "2026-11-23T09:00:00.000Z";
  const turn = { node: "a", state: "held", sandbox: null, attempt: 1, since: story.world.clock.iso(), due } as const;
  story.world.chain.at({ execution: story.id, scope: "", seq: 1 }).turn = turn;
  expect((await atWork(story)).nodes).toMatchObject([{ node_id: "a", waits_for: { kind: "retry", until: due } }]);
});

it("a failed attempt is listed while the next one waits and runs", async () => {
  const retry = { attempts: 2, delaySeconds: 10, jitter: true } as const;
  const workflow = flow("tries", [action("a", { retry })], lines("start > a > end"));
  const failing = { ...fails("no"), result: { ...fails("no").result, logs: "asking\n" } } as Script;
  const story = await new Story(workflow, { a: [failing, succeeds("a", "1")] }).start();
  await story.finish(story.deliver("a", 0));
  const failed = { attempt_number: 1, error_class: "NodeFailed", error_message: "no", logs: "asking\n" };
  const attempts = [{ ...failed, retry_delay_ms: 10_000, retry_jitter: true }];
  expect((await atWork(story)).nodes).toMatchObject([{ attempt: 1, waits_for: { kind: "retry" }, attempts }]);
  story.world.clock.advance(10_000);
  await story.until(story.deliver("a", 0), "wait");
  expect((await atWork(story)).nodes).toMatchObject([{ attempt: 2, waits_for: null, attempts }]);
});

it("the first twenty of many items are listed, and the others are counted", async () => {
  const workflow = flow("many", [mapOver("m", [action("i")], [])], lines("start > m > end"));
  const story = await new Story(workflow, { i: () => succeeds("i", "1") }).start(
    JSON.stringify({ list: Array.from({ length: 30 }, (_, i) => i) }),
  );
  await story.finish(story.deliver("m", 0));
  for (let i = 0; i < 4; i++) await story.finish(story.deliver("i", 0, { scope: `/m@1.${i}` }));
  for (let i = 4; i < 30; i++) {
    const turn = { node: "i", state: "held", sandbox: null, attempt: 1, since: story.world.clock.iso() } as const;
    story.world.chain.at({ execution: story.id, scope: `/m@1.${i}`, seq: 1 }).turn = turn;
  }
  const { count, nodes, maps } = await atWork(story);
  expect({ count, listed: nodes.length, first: nodes[0]?.scope }).toEqual({ count: 26, listed: 20, first: "/m@1.4" });
  expect(maps).toEqual([{ node_id: "m", scope: "", seq: 1, items: 30, done: 4, failed: 0 }]);
});
