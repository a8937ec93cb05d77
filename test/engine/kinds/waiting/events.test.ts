import { deliverEvent, requestApproval } from "@nova/engine";
import type { WaitNode } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { EventWait } from "../../../support/engine/event-wait.ts";
import { flow, lines } from "../../../support/engine/flows.ts";
import { atOnce } from "../../../support/engine/scheduler.ts";
import { Story } from "../../../support/engine/story.ts";

const pattern = { source: ["crm"], detail: { customer: ["{{customer}}"] } };
const context = '{"customer":"acme"}';
const since = { since: "start" } as const;
const text = '{"id":"event-1","source":"crm","detail":{"customer":"acme","sum":850.0}}';

describe("a wait for an event", () => {
  it("with `since` continues at once with an event that arrived before the wait, and keeps all digits of the event's numbers", async () => {
    const story = await new EventWait(pattern, since).begin(context);
    expect(await deliverEvent(story.ports, text)).toEqual([]);
    await story.wait();
    expect(story.chain.at(-1)).toBe("pause success");
    expect(story.news).toContain("850.0");
    expect(JSON.parse(story.world.answered.get("token-1") ?? "{}")).toMatchObject({ seq: 2 });
  });

  it("with `since` takes the oldest matching event after the start of the run", async () => {
    const story = await new EventWait(pattern, since).begin(context);
    await story.emit('{"customer":"acme","n":"too early"}');
    story.world.clock.advance(1000);
    await story.begin(context);
    await story.emit('{"customer":"initech","n":"of another"}');
    await story.emit('{"customer":"acme","n":"the right one"}');
    await story.emit('{"customer":"acme","n":"too late"}');
    await story.wait();
    expect(story.news).toContain("the right one");
    expect(story.news).not.toMatch(/too early|of another|too late/);
  });

  it("ignores an event that arrived before the wait if its node has no `since`", async () => {
    const story = await new EventWait(pattern).begin(context);
    await deliverEvent(story.ports, text);
    await story.wait();
    expect(story.chain.at(-1)).toBe("prepare success");
    expect(story.world.tasks.wakes.events.size).toBe(0);
  });

  it("misses no event, whichever step its start has reached when the event arrives", async () => {
    for (let steps = 0; ; steps++) {
      const story = await new EventWait(pattern, since).begin(context);
      const wait = story.world.spawn("wait", (ports) => requestApproval(ports, story.event));
      const isOver = !(await story.advance(wait, steps));
      await deliverEvent(story.world.ports(atOnce), text);
      await story.finish(wait);
      expect([steps, story.chain.at(-1)]).toEqual([steps, "pause success"]);
      expect(story.chain.filter((one) => one === "pause success")).toHaveLength(1);
      if (isOver) return;
    }
  });

  it("takes an event, whichever step the delivery of the event has reached when the wait starts", async () => {
    for (let steps = 0; ; steps++) {
      const story = await new EventWait(pattern, since).begin(context);
      const event = story.world.spawn("event", (ports) => deliverEvent(ports, text));
      const isOver = !(await story.advance(event, steps));
      await story.wait();
      await story.finish(event);
      expect([steps, story.chain.at(-1)]).toEqual([steps, "pause success"]);
      if (isOver) return;
    }
  });
});

it("NOVA stores an event only if a wait with `since` may need it later", async () => {
  const story = await new EventWait(pattern, since).begin(context);
  await story.emit('{"other":1}');
  await story.emit('{"customer":"acme"}', '"source":"shop","id":"event-2"');
  expect(story.world.tasks.wakes.events.size).toBe(0);
});

it("an event that EventBridge delivers twice wakes only the first of two waits, and another event wakes the second one", async () => {
  const waitFor = (id: string): WaitNode => ({
    ...{ id, type: "wait" },
    for: { kind: "event", pattern: { source: ["shop"] }, timeoutSeconds: 3600, into: id },
  });
  const workflow = flow("two-waits", [waitFor("first"), waitFor("second")], lines("start > first > second > end"));
  const story = await new Story(workflow).start();
  const ports = story.world.ports(atOnce);
  const execution = { id: story.id, workflowId: workflow.id, version: 1 };
  const wait = (node: string, seq: number) =>
    requestApproval(ports, { execution, scope: "", seq, node, token: `token-${node}` });
  const deliver = (id: string) => deliverEvent(ports, JSON.stringify({ id, source: "shop", detail: {} }));
  await wait("first", 0);
  expect(await deliver("event-1")).toMatchObject([{ node: "first" }]);
  await wait("second", 1);
  expect(await deliver("event-1")).toEqual([]);
  expect(await deliver("event-2")).toMatchObject([{ node: "second" }]);
});
