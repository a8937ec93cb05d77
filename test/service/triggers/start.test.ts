import {
  type Arrival,
  type Delivery,
  type DeliveryOrigin,
  listDeliveries,
  type Role,
  recordRefusedDelivery,
  startFromTrigger,
} from "@nova/service";
import { beforeEach, describe, expect, it } from "vitest";
import { withKinds } from "../../../packages/engine/src/kinds/table.ts";
import { closeExecution } from "../../../packages/engine/src/protocol/close.ts";
import type { Caller } from "../../support/engine/scheduler.ts";
import { TriggerWorld } from "../support/trigger-world.ts";

let world: TriggerWorld;

beforeEach(async () => {
  world = new TriggerWorld();
  await world.publish("report", []);
});

const arrival: Arrival = {
  type: "schedule",
  workflow: "report",
  trigger: "schedule-1",
  client: "default",
  dedupe: "9:00",
  from: "schedule",
  about: "",
  context: '{"n": 850.0}',
};
const start = (changes: Partial<Arrival> = {}, caller?: Caller) =>
  startFromTrigger(world.ports(caller), { ...arrival, ...changes });
const interrupt = (id: string | null) =>
  closeExecution(withKinds(world.ports()), { execution: id ?? "", status: "interrupted" });

describe("a delivery to a trigger", () => {
  it("starts a run of the workflow for the client, and is recorded", async () => {
    const delivery = await start({ client: "acme", about: "9:00" });
    expect(delivery).toMatchObject({
      type: "schedule",
      workflow: "report",
      trigger: "schedule-1",
      client: "acme",
      status: "started",
      from: "schedule",
      about: "9:00",
      dedupe: "9:00",
      reason: null,
    });
    expect(delivery.id.slice("dlv_".length)).toBe(delivery.execution?.slice("exec_".length));
    expect(world.engine.record(delivery.execution ?? "")).toMatchObject({ client: "acme", workflowId: "report" });
    expect(await world.context(delivery.execution)).toEqual({ n: 850 });
    expect(world.records).toEqual([delivery]);
  });

  it("starts one run, even if it is delivered twice", async () => {
    const first = await start();
    expect(await start({ context: '{"n": 2}' })).toEqual(first);
    expect(world.runs).toEqual([first.execution]);
  });

  it("restarts its interrupted run once if it is delivered again, and every later delivery returns this restart", async () => {
    const first = await start();
    await interrupt(first.execution);
    const [again, same] = await Promise.all([start(), start()]);
    expect(again.execution).not.toBe(first.execution);
    expect([again.status, same.execution]).toEqual(["started", again.execution]);
    expect(world.engine.record(again.execution ?? "")).toMatchObject({ restartedFrom: first.execution });
    expect((await start()).execution).toBe(again.execution);
    await interrupt(again.execution);
    const third = await start();
    expect(world.engine.record(third.execution ?? "")).toMatchObject({ restartedFrom: again.execution });
    expect(world.runs).toEqual([first.execution, again.execution, third.execution]);
  });

  it("restarts its interrupted run even if a crash left its record with the status `accepted`", async () => {
    const first = await start();
    world.deliveries.kept.set(first.key, { ...first, status: "accepted" });
    await interrupt(first.execution);
    const again = await start();
    expect(world.engine.record(again.execution ?? "")).toMatchObject({ restartedFrom: first.execution });
  });

  it("starts the restart that its run already names if a crash prevented the start of this restart", async () => {
    const first = await start();
    await interrupt(first.execution);
    const lost = "exec_01JC0000000000000000000000";
    await world.ports().executions.update(first.execution ?? "", { restarts: [lost] });
    expect((await start()).execution).toBe(lost);
    expect(world.engine.record(lost)).toMatchObject({ restartedFrom: first.execution });
  });

  it("is refused if its interrupted run cannot be restarted, and its record names the interrupted run", async () => {
    const first = await start({ client: "acme" });
    await interrupt(first.execution);
    const ports = { ...world.ports(), machineVersions: { list: async () => [] } as never };
    const again = await startFromTrigger(ports, { ...arrival, client: "acme" });
    expect(again).toMatchObject({ status: "refused", execution: null, reason: expect.stringMatching(/version/) });
    expect(world.records).toMatchObject([{ status: "started", execution: first.execution }]);
  });

  it("is listed without a run if a process crashed before the run started", async () => {
    const crashing: Caller = {
      async call() {
        throw new RangeError("crashed");
      },
    };
    await expect(start({}, crashing)).rejects.toThrow("crashed");
    const by = { id: "key_1", role: "viewer" as const, client: null, name: "" };
    const listed = async () => (await listDeliveries(world.ports(), by, { limit: 10 })).items;
    expect(await listed()).toMatchObject([{ status: "accepted", execution: null }]);
    const { execution } = await start();
    expect(await listed()).toMatchObject([{ status: "started", execution }]);
  });

  it.each<[string, Partial<Arrival>]>([
    ["time", { dedupe: "10:00" }],
    ["client", { client: "acme" }],
    ["trigger", { trigger: "schedule-2" }],
    ["kind of trigger", { type: "event" }],
  ])("starts another run if it has another %s", async (_what, changes) => {
    await start();
    await start(changes);
    expect([world.runs.length, world.records.length]).toEqual([2, 2]);
  });

  it.each([1, 2, 3])(
    "starts only one run if a process crashes at call %i and the delivery is repeated",
    async (crashAt) => {
      let calls = 0;
      const crashing: Caller = {
        async call({ effect }) {
          calls += 1;
          if (calls === crashAt) throw new RangeError("crashed");
          return effect();
        },
      };
      await expect(start({}, crashing)).rejects.toThrow("crashed");
      const [accepted] = world.records;
      expect(accepted?.status).toBe("accepted");
      const delivery = await start();
      expect(delivery).toMatchObject({ status: "started", execution: accepted?.execution });
      expect(world.runs).toEqual([accepted?.execution]);
    },
  );

  it.each<[string, Partial<Arrival>, RegExp]>([
    ["for a workflow that does not exist", { workflow: "gone" }, /no workflow "gone"/],
    ["for a client that does not exist", { client: "nobody" }, /no client "nobody"/],
    ["whose context is not an object", { context: "[]" }, /not a JSON object/],
    ["whose context has a key of NOVA's", { context: '{"$blob": 1}' }, /such keys mark NOVA's references/],
  ])("%s is refused every time that it is delivered", async (_what, changes, reason) => {
    const delivery = await start(changes);
    expect(delivery).toMatchObject({ status: "refused", execution: null, reason: expect.stringMatching(reason) });
    expect(await start(changes)).toEqual(delivery);
    expect(world.runs).toEqual([]);
  });

  it.each(["webhook", "event", "schedule", "mail", "imap"] as const)(
    "of type %s starts one run if it was refused and is delivered again after the cause of the refusal is repaired",
    async (type) => {
      const again = (changes: Partial<Arrival> = {}) => start({ trigger: "in-1", type, ...changes });
      const refused = await again({ context: "[]" });
      const [one, other] = await Promise.all([again(), again()]);
      expect(other).toEqual(one);
      expect(one).toEqual({ ...refused, status: "started", execution: world.runs[0], reason: null });
      expect(await again({ context: "[]" })).toEqual(one);
      expect([world.runs.length, world.records]).toEqual([1, [one]]);
    },
  );

  it("is not refused when it is delivered again after its run has started, even if a new delivery would now be refused", async () => {
    const { finish } = world.deliveries;
    world.deliveries.finish = () => Promise.reject(new RangeError("crashed"));
    await expect(start()).rejects.toThrow("crashed");
    world.deliveries.finish = finish;
    const started = await start({ context: "[]" });
    expect(started).toMatchObject({ status: "started", execution: world.runs[0], reason: null });
    expect([world.records, world.runs.length]).toEqual([[started], 1]);
  });

  it("stays recorded as started even if its repetition at the same moment is refused", async () => {
    const ports = world.ports();
    const { get } = ports.executions;
    let isMine = true;
    ports.executions.get = async (id) => {
      const before = await get(id);
      if (isMine) {
        isMine = false;
        await start();
      }
      return before;
    };
    await startFromTrigger(ports, { ...arrival, context: "[]" });
    expect(world.records).toMatchObject([{ status: "started", execution: world.runs[0], reason: null }]);
  });

  it("is refused if its client is deleted while its run starts, and leaves no record", async () => {
    const ports = world.ports();
    const { latest } = ports.workflows;
    ports.workflows.latest = async (id) => {
      world.clients.delete("acme");
      world.deliveries.kept.clear();
      return latest(id);
    };
    ports.erasureQueue = { enqueue: async () => undefined };
    const refused = await startFromTrigger(ports, { ...arrival, client: "acme" });
    expect(refused).toMatchObject({
      status: "refused",
      execution: null,
      reason: expect.stringMatching(/no client "acme"/),
    });
    expect(world.records).toEqual([]);
  });

  it("starts a run, and is recorded for its client, if the client is created after a first delivery was refused", async () => {
    await start({ client: "late", from: "ann@example.com" });
    world.clients.add("late");
    const started = await start({ client: "late", from: "ann@example.com" });
    expect(started).toMatchObject({ status: "started", client: "late", from: "ann@example.com", dedupe: "9:00" });
    expect(world.records).toMatchObject([{ status: "refused", client: null, from: "" }, started]);
  });

  it("is recorded with the reason of its last refusal", async () => {
    await start({ context: "[]" });
    const { reason } = await start({ context: '{"$blob": 1}' });
    expect(reason).toMatch(/such keys mark/);
    expect(world.records).toMatchObject([{ status: "refused", reason }]);
  });

  it("starts only one run, even if a process crashed while it retried a refused delivery", async () => {
    await start({ context: "[]" });
    await expect(start({}, { call: () => Promise.reject(new RangeError("crashed")) })).rejects.toThrow("crashed");
    const { execution } = await start();
    expect(world.runs).toEqual([execution]);
  });

  it.each(["webhook", "event"] as const)(
    "of type %s starts a run with its contents unchanged, even if they look like an upload",
    async (type) => {
      const body = { $upload: `upl_${"0".repeat(26)}` };
      const context = JSON.stringify({ [type]: { body }, body });
      const { execution } = await start({ trigger: "in-1", type, context });
      expect(await world.context(execution)).toEqual({ [type]: { body }, body });
    },
  );

  it("is recorded without sender and subject if its client does not exist", async () => {
    const mail = { client: "nobody", from: "ann@example.com", about: "Ann's salary", dedupe: "<1@example.com>" };
    const named = { type: "mail", workflow: "report", trigger: "mail-1" } as const;
    const refused = await recordRefusedDelivery(world.ports(), { ...mail, ...named }, "ann@example.com may not");
    for (const record of [await start(mail), refused]) {
      expect(record).toMatchObject({ status: "refused", client: null, from: "", about: "", dedupe: "" });
    }
    expect(JSON.stringify(world.records)).not.toMatch(/ann/i);
  });

  it("is recorded with shortened texts, but NOVA recognises it by its full id", async () => {
    const long = "a".repeat(2_000);
    const delivery = await start({ dedupe: long, from: long, about: long });
    expect([delivery.dedupe, delivery.from, delivery.about].map(({ length }) => length)).toEqual([500, 500, 500]);
    await start({ dedupe: `${long}b` });
    expect(world.runs).toHaveLength(2);
  });
});

describe("a delivery that starts no run", () => {
  const unstarted: DeliveryOrigin = {
    type: "mail",
    workflow: null,
    trigger: null,
    client: null,
    dedupe: "<1@x>",
    from: "a@b",
    about: "Hi",
  };

  it("is recorded once, with the reason of its first refusal", async () => {
    const first = await recordRefusedDelivery(world.ports(), unstarted, "nobody is here");
    expect(first).toMatchObject({ ...unstarted, status: "refused", execution: null, reason: "nobody is here" });
    expect(await recordRefusedDelivery(world.ports(), unstarted, "something else", "failed")).toEqual(first);
    expect(world.records).toEqual([first]);
  });
});

describe("a list of deliveries", () => {
  let world: TriggerWorld;
  const by = (client: string | null) => ({ id: "key_1", role: "viewer" as Role, client, name: "" });

  /**
   * The workflow, the client and the status of each delivery, oldest first. The index of a delivery in this list is its
   * id.
   */
  const rows: [string | null, string | null, Delivery["status"]][] = [
    ["invoice", "acme", "started"],
    ["invoice", "globex", "refused"],
    ["report", "acme", "refused"],
    [null, null, "refused"],
  ];

  beforeEach(async () => {
    world = new TriggerWorld();
    for (const id of ["invoice", "report"]) await world.publish(id, []);
    for (const [at, [workflow, client, status]] of rows.entries()) {
      await world.deliveries.begin({
        format: 1,
        key: `${at}`,
        id: `dlv_${at}`,
        type: "mail",
        workflow,
        trigger: null,
        client,
        status,
        at: new Date(at).toISOString(),
        from: "",
        about: "",
        dedupe: `${at}`,
        execution: null,
        reason: null,
        expiresAt: 0,
      });
    }
  });

  const ids = async (client: string | null, query: object = {}) => {
    const { items, cursor } = await listDeliveries(world.ports(), by(client), { limit: 10, ...query });
    return [items.map(({ id }) => Number(id.slice("dlv_".length))), cursor];
  };

  it.each<[string, string | null, object, number[]]>([
    ["all deliveries to a key for all clients, newest first", null, {}, [3, 2, 1, 0]],
    ["the deliveries of a workflow", null, { workflow: "invoice" }, [1, 0]],
    ["the deliveries of a client", null, { client: "acme" }, [2, 0]],
    ["the deliveries with a status", null, { status: "refused" }, [3, 2, 1]],
    [
      "the deliveries that match all three filters",
      null,
      { workflow: "invoice", client: "globex", status: "refused" },
      [1],
    ],
    ["only its own deliveries to the key of a client", "acme", {}, [2, 0]],
    ["its own deliveries of a workflow to the key of a client", "globex", { workflow: "invoice" }, [1]],
    ["no deliveries of another client", "acme", { client: "globex" }, []],
  ])("shows %s", async (_what, client, query, expected) => {
    expect(await ids(client, query)).toEqual([expected, undefined]);
  });

  it("comes in pages, and each page continues after the last delivery of the previous page", async () => {
    expect(await ids(null, { limit: 2 })).toEqual([[3, 2], "dlv_2"]);
    expect(await ids(null, { limit: 2, cursor: "dlv_2" })).toEqual([[1, 0], undefined]);
  });
});
