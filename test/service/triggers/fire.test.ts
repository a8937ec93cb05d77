import { fireTrigger, type ServicePorts } from "@nova/service";
import type { EventTrigger, ScheduleTrigger } from "@nova/workflow";
import { beforeEach, describe, expect, it } from "vitest";
import { atOnce } from "../../support/engine/scheduler.ts";
import { TriggerWorld } from "../support/trigger-world.ts";

const nightly: ScheduleTrigger = {
  ...{ type: "schedule", id: "nightly", client: "acme", context: { region: "es", schedule: "mine" } },
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

/** A bus whose every event is whole, or in full what `whole` says. */
function ports(whole: (text: string) => string | undefined = (text) => text): ServicePorts {
  return {
    ...world.ports(),
    bus: { put: () => Promise.reject(new RangeError("nobody puts")), whole: async (text) => whole(text) },
  };
}

const due = { workflow: "report", trigger: "nightly", scheduled_at: at };
const happened = { workflow: "report", trigger: "paid", event };

describe("a schedule that is due", () => {
  it("starts a run with its context, and with the time", async () => {
    const { status, execution } = await fireTrigger(ports(), due);
    expect(status).toBe("started");
    expect(world.runs).toEqual([execution]);
    expect(await world.context(execution)).toEqual({
      region: "es",
      schedule: { trigger: "nightly", scheduled_at: at },
    });
    expect(world.records).toMatchObject([{ type: "schedule", client: "acme", dedupe: at, from: "schedule" }]);
  });

  it("starts a run with the very digits of its context, kept as text or as an object", async () => {
    const context = '{"a":12345678901234567890,"schedule":1,"b":850.0,"c":-0}';
    await world.publish("report", [{ ...nightly, context }]);
    const { execution } = await fireTrigger(ports(), due);
    expect(await world.contextText(execution)).toMatch(/^{"a":12345678901234567890,"b":850.0,"c":-0,"schedule":{/);
  });

  it("starts one run for each time, however often it is delivered", async () => {
    const first = await fireTrigger(ports(), due);
    expect((await fireTrigger(ports(), due)).execution).toBe(first.execution);
    await fireTrigger(ports(), { ...due, scheduled_at: "2026-11-23T02:00:00Z" });
    expect(world.runs).toHaveLength(2);
  });

  it("leaves a record where it cannot start a run", async () => {
    world.clients.clear();
    expect(await fireTrigger(ports(), due)).toMatchObject({ status: "refused", execution: null });
    expect(world.records).toMatchObject([{ status: "refused", reason: expect.stringMatching(/no client "acme"/) }]);
  });
});

describe("an event that fits", () => {
  it("starts a run with the event", async () => {
    const { execution } = await fireTrigger(ports(), happened);
    expect(await world.context(execution)).toEqual({ event });
    expect(world.records).toMatchObject([
      { type: "event", client: "default", dedupe: "e-1", from: "shop", about: "Paid", status: "started" },
    ]);
  });

  it("starts one run, however often it is delivered", async () => {
    await fireTrigger(ports(), happened);
    await fireTrigger(ports(), happened);
    expect(world.runs).toHaveLength(1);
  });

  it("arrives whole, digit for digit, where it was too large for the bus", async () => {
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

describe("an event whose detail is not where it says", () => {
  const gone = () => ports(() => undefined);

  it("leaves a record, and starts nothing", async () => {
    const reason = expect.stringMatching(/^its detail is not where nova_detail says .* - put the event again/);
    expect(await fireTrigger(gone(), happened)).toMatchObject({ status: "refused", execution: null, reason });
    expect(world.records).toMatchObject([
      { type: "event", workflow: "report", trigger: "paid", client: "default", dedupe: "e-1", from: "shop", reason },
    ]);
    expect(world.runs).toEqual([]);
  });

  it("starts its run where the same is delivered when the detail is there", async () => {
    await fireTrigger(gone(), happened);
    expect(await fireTrigger(ports(), happened)).toMatchObject({ status: "started" });
    expect([world.runs.length, world.records.length]).toEqual([1, 1]);
  });
});

describe("nothing is started", () => {
  it.each([
    ["of a trigger that has gone", { ...due, trigger: "weekly" }],
    ["of a workflow that has gone", { ...due, workflow: "old" }],
    ["where a schedule meets a trigger of events", { ...due, trigger: "paid" }],
    ["where an event meets a trigger of times", { ...happened, trigger: "nightly" }],
  ])("%s", async (_, firing) => {
    expect(await fireTrigger(ports(), firing)).toMatchObject({ status: "ignored", execution: null });
    expect(world.runs).toEqual([]);
    expect(world.records).toEqual([]);
  });
});
