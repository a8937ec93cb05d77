import { putTriggers, removeTriggers } from "@nova/service";
import type { EventTrigger, ScheduleTrigger, Trigger } from "@nova/workflow";
import { beforeEach, describe, expect, it } from "vitest";
import { TriggerWorld } from "../support/trigger-world.ts";

let world: TriggerWorld;

beforeEach(() => {
  world = new TriggerWorld();
});

const schedule = (when: ScheduleTrigger["when"], timezone?: string): ScheduleTrigger => ({
  type: "schedule",
  id: "nightly",
  when,
  ...(timezone !== undefined && { timezone }),
});
const every = (everySeconds: number) => schedule({ kind: "every", everySeconds });
const sync = async (before: Trigger[], after: Trigger[]) => {
  await putTriggers(world.ports(), "report", after);
  await removeTriggers(world.ports(), "report", before, after);
};

describe("a schedule", () => {
  it.each([
    [schedule({ kind: "cron", cron: "0 9 ? * MON-FRI *" }), "cron(0 9 ? * MON-FRI *)"],
    [schedule({ kind: "at", at: "2026-12-24T18:00:00" }), "at(2026-12-24T18:00:00)"],
    [every(60), "rate(1 minute)"],
    [every(300), "rate(5 minutes)"],
    [every(3600), "rate(1 hour)"],
    [every(5400), "rate(90 minutes)"],
    [every(86_400), "rate(1 day)"],
    [every(172_800), "rate(2 days)"],
  ])("%j becomes %s in EventBridge", async (trigger, expression) => {
    await sync([], [trigger]);
    expect([...world.schedules.kept.values()]).toMatchObject([{ workflow: "report", trigger: "nightly", expression }]);
  });

  it("with a rate fires for the first time after one period, since its version may not be published before", async () => {
    await sync([], [every(300)]);
    const now = world.ports().clock.now();
    expect([...world.schedules.kept.values()]).toMatchObject([{ firstAt: new Date(now + 300_000).toISOString() }]);
    await sync([], [schedule({ kind: "cron", cron: "0 9 * * ? *" })]);
    expect([...world.schedules.kept.values()]).toEqual([
      { workflow: "report", trigger: "nightly", expression: "cron(0 9 * * ? *)" },
    ]);
  });

  it("has a time zone, replaces a schedule of its name, and is removed with its version", async () => {
    const before = schedule({ kind: "cron", cron: "0 9 * * ? *" }, "Europe/Madrid");
    await sync([], [before]);
    expect([...world.schedules.kept.values()]).toMatchObject([{ timezone: "Europe/Madrid" }]);
    await sync([before], [every(60)]);
    expect([...world.schedules.kept.values()]).toMatchObject([{ expression: "rate(1 minute)" }]);
    await sync([every(60)], []);
    expect(world.schedules.kept.size).toBe(0);
  });
});

describe("a rule for events", () => {
  const paid: EventTrigger = { type: "event", id: "paid", bus: "default", pattern: { source: ["aws.s3"] } };

  it("exists as long as its trigger, on the bus of the trigger", async () => {
    await sync([], [paid]);
    const rule = { workflow: "report", trigger: "paid", bus: "default", pattern: { source: ["aws.s3"] } };
    expect([...world.eventRules.kept.values()]).toEqual([rule]);
    const own: EventTrigger = { ...paid, bus: "nova" };
    await sync([paid], [own]);
    expect([...world.eventRules.kept.values()]).toEqual([{ ...rule, bus: "nova" }]);
    await sync([own], []);
    expect(world.eventRules.kept.size).toBe(0);
  });
});
