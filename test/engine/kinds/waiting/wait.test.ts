import { answerTask, deliverEvent, requestApproval, runNode, settleNode } from "@nova/engine";
import type { WaitNode, Workflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { action, flow, lines } from "../../../support/engine/flows.ts";
import { atOnce } from "../../../support/engine/scheduler.ts";
import { Story } from "../../../support/engine/story.ts";

const never = new AbortController().signal;

class Waits extends Story {
  readonly ports = this.world.ports(atOnce);

  constructor(waitsFor: WaitNode["for"], more: Partial<Workflow> = {}) {
    const wait: WaitNode = { id: "pause", type: "wait", for: waitsFor };
    super(flow("waits", [action("prepare"), wait], lines("start > prepare > pause > end"), more));
  }

  async begin(context = "{}"): Promise<this> {
    await this.start(context);
    await this.finish(this.deliver("prepare", 0));
    return this;
  }

  get event() {
    const { workflowId, version } = this.world.record(this.id);
    return { execution: { id: this.id, workflowId, version }, scope: "", seq: 1, node: "pause" };
  }

  /** Runs the first task of the wait. With `waited`, runs the task after the pause instead. */
  run(waited = false): Promise<unknown> {
    return runNode(this.ports, { ...this.event, ...(waited && { waited }) }, never);
  }

  inSeconds(seconds: number): string {
    return this.world.clock.iso(this.world.clock.now + seconds * 1000);
  }
}

describe("a wait for a time", () => {
  it("takes the turn and returns the time, and writes its entry only after the pause", async () => {
    const story = await new Waits({ kind: "seconds", seconds: 900 }).begin();
    const until = story.inSeconds(900);
    expect(await story.run()).toEqual({ execution: story.event.execution, scope: "", seq: 1, until });
    expect(story.chain).toEqual(["start success", "prepare success"]);
    story.world.clock.advance(900_000);
    expect(await story.run(true)).toMatchObject({ seq: 2 });
    expect(story.chain.at(-1)).toBe("pause success");
  });

  it("ends at the same time in every delivery, and causes no pause after that time", async () => {
    const story = await new Waits({ kind: "seconds", seconds: 900 }).begin();
    const until = story.inSeconds(900);
    await story.run();
    story.world.clock.advance(500_000);
    expect(await story.run()).toMatchObject({ until });
    story.world.clock.advance(400_000);
    await story.run(true);
    const ended = story.world.clock.iso();
    story.world.clock.advance(5_000);
    expect(await story.run()).toMatchObject({ seq: 1, until: ended });
    expect(await story.run(true)).toMatchObject({ seq: 2 });
  });

  it("of more than a minute gives its run the status `waiting` until its entry exists, also after late deliveries", async () => {
    const story = await new Waits({ kind: "seconds", seconds: 900 }).begin();
    const status = () => story.world.record(story.id).status;
    const late = story.deliver("pause", 1);
    await story.until(late, "set status waiting");
    await story.run();
    expect(status()).toBe("waiting");
    story.world.clock.advance(900_000);
    await story.run(true);
    expect(status()).toBe("running");
    await story.finish(late);
    expect(status()).toBe("running");
  });

  it("of a minute does not change the status of its run", async () => {
    const story = await new Waits({ kind: "seconds", seconds: 60 }).begin();
    await story.run();
    expect(story.world.record(story.id).status).toBe("running");
  });

  it("no longer gives its run the status `waiting` after a settle task has written its entry early", async () => {
    const story = await new Waits({ kind: "seconds", seconds: 900 }).begin();
    await story.run();
    await story.finish(story.settle("pause", 1));
    expect(story.world.record(story.id).status).toBe("running");
  });

  it.each([
    ["the time in its definition", "2026-02-01T09:00:00+01:00", "{}", "2026-02-01T08:00:00.000Z"],
    ["a time from the context", "{{due.at}}", '{"due": {"at": "2026-02-01T09:00Z"}}', "2026-02-01T09:00:00.000Z"],
    ["a time that is past", "2020-01-01T00:00:00Z", "{}", "2020-01-01T00:00:00.000Z"],
  ])("waits until %s", async (_what, until, context, expected) => {
    const story = await new Waits({ kind: "until", until }).begin(context);
    expect(await story.run()).toMatchObject({ until: expected });
  });

  it.each([
    ["tomorrow", '{"due": "tomorrow"}', /"tomorrow" is no time to wait until/],
    ["a number instead of a text", '{"due": 1767225600}', /1767225600 is no time/],
    ["a time without a zone", '{"due": "2026-02-01T09:00:00"}', /write it with its zone/],
    ["a day that does not exist", '{"due": "2026-13-41T09:00:00Z"}', /is no time/],
    ["missing in the context", "{}", /\{\{due\}\}, which the context does not have/],
    ["a time in ten years", '{"due": "2036-01-01T00:00:00Z"}', /more than a year away/],
  ])("fails with an explanation if its time is %s", async (_what, context, sentence) => {
    const story = await new Waits({ kind: "until", until: "{{due}}" }).begin(context);
    await expect(story.run()).rejects.toMatchObject({ name: "NodeFailed", message: expect.stringMatching(sentence) });
    expect(story.chain.at(-1)).toBe("pause failed");
  });

  it("fails without showing the secret if its time comes from a secret input that is not a time", async () => {
    const inputs = { properties: { due: { secret: true } } };
    for (const due of ["s3cr3t-of-20-letters", `${"x".repeat(65)}s3cr3t-of-20-letters`, 4111111111111111]) {
      const story = await new Waits({ kind: "until", until: "{{due}}" }, { inputs }).begin(JSON.stringify({ due }));
      const failure = (await story.run().catch((error) => error)) as Error;
      expect(failure.message).toContain("is no time to wait until");
      expect(failure.message).not.toMatch(/s3cr|4111|xxxx/);
    }
  });

  it.each([
    [60, ["S1"]],
    [61, []],
  ])("of %i seconds leaves only the sandboxes %j alive", async (seconds, kept) => {
    const story = await new Waits({ kind: "seconds", seconds }).begin();
    await story.run();
    expect(story.world.sandboxes.alive().map(({ id }) => id)).toEqual(kept);
    await story.run(true);
    const head = JSON.parse(story.world.chain.entriesOf(story.id).at(-1)?.head ?? "{}");
    expect(head.warm?.id ?? null).toBe(kept[0] ?? null);
  });

  it("gets a failed entry when its run is cancelled", async () => {
    const story = await new Waits({ kind: "seconds", seconds: 900 }).begin();
    await story.run();
    await story.finish(story.cancel());
    expect(story.chain.slice(-2)).toEqual(["pause failed", "(close) cancelled"]);
    await expect(story.run(true)).rejects.toMatchObject({ name: "ExecutionClosed" });
  });
});

describe("a wait for an event", () => {
  const pattern = { source: ["shop"], detail: { order: [{ prefix: "A" }] } };
  const fitting = '{"source":"shop","detail-type":"paid","detail":{"order":"A-1","sum":850.0}}';

  async function waiting(): Promise<Waits> {
    const story = await new Waits({ kind: "event", pattern, timeoutSeconds: 3600, into: "order" }).begin();
    await requestApproval(story.ports, { ...story.event, token: "token-1" });
    return story;
  }

  it("continues with an event that matches, keeps all digits of the event's numbers, and ignores other events", async () => {
    const story = await waiting();
    expect(await deliverEvent(story.ports, '{"source":"shop","detail":{"order":"B-1"}}')).toEqual([]);
    expect(story.chain.at(-1)).toBe("prepare success");
    expect(await deliverEvent(story.ports, fitting)).toMatchObject([{ node: "pause" }]);
    expect(story.chain.at(-1)).toBe("pause success");
    expect(JSON.stringify(Array.from(story.world.chain.places.values()))).toContain("850.0");
    expect(JSON.parse(story.world.answered.get("token-1") ?? "{}")).toMatchObject({ seq: 2 });
    expect(await deliverEvent(story.ports, fitting)).toEqual([]);
  });

  it("cannot be answered by a person", async () => {
    const story = await waiting();
    const [task] = story.world.tasks.all();
    const answer = { task: task?.id ?? "", choice: "approved", by: "ann", from: "a test" };
    await expect(answerTask(story.ports, answer)).rejects.toThrow(/waits for an event - nova emit sends one/);
  });

  it("fails if no event came before its timeout", async () => {
    const story = await waiting();
    expect(await settleNode(story.ports, { ...story.event, expired: true })).toMatchObject({
      failed: true,
      error: { Error: "NodeTimeout", Cause: 'node "pause": no event came that fits within 3600 seconds' },
    });
    expect(await deliverEvent(story.ports, fitting)).toEqual([]);
  });
});
