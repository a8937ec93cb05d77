import { fireTrigger, listSchedules, type Principal, setSchedulePaused } from "@nova/service";
import type { ScheduleTrigger } from "@nova/workflow";
import { beforeEach, describe, expect, it } from "vitest";
import { TriggerWorld } from "../support/trigger-world.ts";

const trigger = (id: string, when: ScheduleTrigger["when"], more: Partial<ScheduleTrigger> = {}): ScheduleTrigger => ({
  type: "schedule",
  id,
  when,
  ...more,
});
const nightly = trigger(
  "nightly",
  { kind: "cron", cron: "0 2 * * ? *" },
  { timezone: "Europe/Madrid", client: "acme" },
);
const often = trigger("often", { kind: "every", everySeconds: 300 });
const once = trigger("once", { kind: "at", at: "2020-01-01T00:00:00" });
const admin: Principal = { id: "key_1", role: "admin", client: null, name: "Ada" };
const acme: Principal = { ...admin, client: "acme" };
const now = Date.parse("2026-11-22T12:00:00Z");

let world: TriggerWorld;

beforeEach(async () => {
  world = new TriggerWorld();
  await world.publish("report", [often, nightly, once]);
  await world.publish("bill", [often]);
});

function ports() {
  const audit = { append: async () => undefined, list: async () => [] };
  return { ...world.ports(), audit, clock: { now: () => now, sleep: async () => undefined } };
}

const setPaused = (isPaused: boolean, by: Principal, schedule: string) =>
  setSchedulePaused(ports(), by, { workflow: "report", schedule, isPaused });
const list = (by = admin, query: object = {}) => listSchedules(ports(), by, { limit: 10, ...query });

describe("the list of schedules", () => {
  it("shows the next time of each schedule in the schedule's time zone, and no next time after the schedule's last time", async () => {
    world.schedules.kept.set("report/often", { ...often, firstAt: "2026-11-22T11:58:00.000Z" } as never);
    const { items } = await list();
    expect(items.map(({ workflow, trigger: { id }, nextAt }) => [workflow, id, nextAt?.slice(0, 16)])).toEqual([
      ["bill", "often", expect.anything()],
      ["report", "nightly", "2026-11-23T01:00"],
      ["report", "often", "2026-11-22T12:03"],
      ["report", "once", undefined],
    ]);
  });

  it("comes in pages, can be limited to one workflow, and shows only schedules that the API key may see", async () => {
    const ids = ({ items }: Awaited<ReturnType<typeof list>>) =>
      items.map((one) => `${one.workflow}/${one.trigger.id}`);
    const first = await list(admin, { limit: 2 });
    expect(ids(first)).toEqual(["bill/often", "report/nightly"]);
    expect(ids(await list(admin, { cursor: first.cursor }))).toEqual(["report/often", "report/once"]);
    expect(ids(await list(admin, { workflow: "bill" }))).toEqual(["bill/often"]);
    expect(ids(await list(acme))).toEqual(["report/nightly"]);
  });

  it("reads a limited number of workflows per page, and the next page continues after these workflows", async () => {
    for (let at = 100; at < 300; at++) await world.publish(`a-${at}`, []);
    const first = await list();
    expect(first).toEqual({ items: [], cursor: "a-299/~" });
    expect((await list(admin, { cursor: first.cursor })).items).toHaveLength(4);
  });
});

describe("a schedule", () => {
  it("starts no runs while it is paused, even if another version is published meanwhile", async () => {
    const due = { workflow: "report", trigger: "nightly", scheduled_at: "2026-11-23T01:00:00Z" };
    expect(await setPaused(true, admin, "nightly")).toMatchObject({ nextAt: null });
    await world.publish("report", [nightly]);
    expect(await fireTrigger(ports(), due)).toMatchObject({
      status: "refused",
      reason: 'schedule "nightly" is paused - nova schedules resume report nightly',
    });
    expect(await setPaused(false, admin, "nightly")).toMatchObject({ pausedAt: null });
    expect(await fireTrigger(ports(), { ...due, scheduled_at: "2026-11-24T01:00:00Z" })).toMatchObject({
      status: "started",
    });
  });

  it("cannot be paused if it does not exist or belongs to another client", async () => {
    await expect(setPaused(true, acme, "often")).rejects.toThrow('has no schedule "often"');
    await expect(setPaused(true, admin, "never")).rejects.toThrow('has no schedule "never"');
  });
});
