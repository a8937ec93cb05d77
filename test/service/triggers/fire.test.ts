import { fireTrigger, type ServicePorts } from "@nova/service";
import type { EventTrigger, ScheduleTrigger } from "@nova/workflow";
import { beforeEach, describe, expect, it } from "vitest";
import { atOnce } from "../../support/engine/scheduler.ts";
import { TriggerWorld } from "../support/trigger-world.ts";

const nightly: ScheduleTrigger = {
  type: "schedule",
  id: "nightly",
  client: "acme",
  context: { region: "es", schedule: "mine" },
  when: { kind: "cron", cron: "0 2 * * ? *" },
};
const paid: EventTrigger = { type: "event", id: "paid", bus: "nova", pattern: { source: ["shop"] } };
const at = "2026-11-22T02:00:00Z";
const event = { version: "0", id: "e-1", source: "shop", "detail-type": "Paid", detail: { total: 850 } };

let world: TriggerWorld;

beforeEach(async () => {
  world = new TriggerWorld();
  await world.publish("report", [nightly, paid]);
});

/**
 * Returns ports with a bus whose method `whole` is the given function. By default this function returns the event
 * itself.
 */
function ports(whole: (text: string) => string | undefined = (text) => text): ServicePorts {
  return {
    ...world.ports(),
    bus: { put: () => Promise.reject(new RangeError("unexpected put")), whole: async (text) => whole(text) },
  };
}

const due = { workflow: "report", trigger: "nightly", scheduled_at: at };
const happened = { workflow: "report", trigger: "paid", event };

describe("a schedule that is due", () => {
  it("starts a run with the schedule's context and the time for which the schedule was due", async () => {
    const { status, execution } = await fireTrigger(ports(), due);
    expect(status).toBe("started");
    expect(world.runs).toEqual([execution]);
    expect(await world.context(execution)).toEqual({
      region: "es",
      schedule: { trigger: "nightly", scheduled_at: at },
    });
    expect(world.records).toMatchObject([{ type: "schedule", client: "acme", dedupe: at, from: "schedule" }]);
  });

  it("starts a run with the numbers of the schedule's context exactly as they are written", async () => {
    const context = '{"a":12345678901234567890,"schedule":1,"b":850.0,"c":-0}';
    await world.publish("report", [{ ...nightly, context }]);
    const { execution } = await fireTrigger(ports(), due);
    expect(await world.contextText(execution)).toMatch(/^{"a":12345678901234567890,"b":850.0,"c":-0,"schedule":{/);
  });

  it("starts one run for each time, even if the time is delivered twice", async () => {
    const first = await fireTrigger(ports(), due);
    expect((await fireTrigger(ports(), due)).execution).toBe(first.execution);
    await fireTrigger(ports(), { ...due, scheduled_at: "2026-11-23T02:00:00Z" });
    expect(world.runs).toHaveLength(2);
  });

  it("is recorded as refused if it cannot start a run", async () => {
    world.clients.clear();
    expect(await fireTrigger(ports(), due)).toMatchObject({ status: "refused", execution: null });
    expect(world.records).toMatchObject([{ status: "refused", reason: expect.stringMatching(/no client "acme"/) }]);
  });
});

describe("an event that matches a trigger", () => {
  it("starts a run with the event", async () => {
    const { execution } = await fireTrigger(ports(), happened);
    expect(await world.context(execution)).toEqual({ event });
    expect(world.records).toMatchObject([
      { type: "event", client: "default", dedupe: "e-1", from: "shop", about: "Paid", status: "started" },
    ]);
  });

  it("starts one run, even if it is delivered twice", async () => {
    await fireTrigger(ports(), happened);
    await fireTrigger(ports(), happened);
    expect(world.runs).toHaveLength(1);
  });

  it("starts a run with exact numbers, even if the event's detail was too large for the bus and was stored in S3", async () => {
    const detail = '{"id": 12345678901234567890, "rows": "many"}';
    const { execution } = await fireTrigger(
      ports((text) => text.replace('{"total":850}', detail)),
      happened,
    );
    const { chain } = world.engine.ports(atOnce);
    const found = await chain.read({ execution: execution ?? "", scope: "", seq: 0 });
    expect(JSON.stringify(found)).toContain("12345678901234567890");
  });
});

describe("an event whose stored detail was deleted", () => {
  const gone = () => ports(() => undefined);

  it("is recorded as refused and starts no run", async () => {
    const reason = expect.stringMatching(/^its detail is not where nova_detail says .* - put the event again/);
    expect(await fireTrigger(gone(), happened)).toMatchObject({ status: "refused", execution: null, reason });
    expect(world.records).toMatchObject([
      { type: "event", workflow: "report", trigger: "paid", client: "default", dedupe: "e-1", from: "shop", reason },
    ]);
    expect(world.runs).toEqual([]);
  });

  it("starts a run if it is delivered a second time after its detail was stored again", async () => {
    await fireTrigger(gone(), happened);
    expect(await fireTrigger(ports(), happened)).toMatchObject({ status: "started" });
    expect([world.runs.length, world.records.length]).toEqual([1, 1]);
  });
});

describe("an invocation of the function nova-fire-trigger", () => {
  it.each([
    ["for a removed trigger", { ...due, trigger: "weekly" }],
    ["for a removed workflow", { ...due, workflow: "old" }],
    ["of a schedule for an event trigger", { ...due, trigger: "paid" }],
    ["of an event for a schedule trigger", { ...happened, trigger: "nightly" }],
  ])("%s is ignored", async (_, firing) => {
    expect(await fireTrigger(ports(), firing)).toMatchObject({ status: "ignored", execution: null });
    expect(world.runs).toEqual([]);
    expect(world.records).toEqual([]);
  });
});
