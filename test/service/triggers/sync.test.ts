import {
  type Client,
  type ClientStore,
  Conflict,
  hookKey,
  mailKey,
  ownKey,
  putTriggers,
  removeTriggers,
  triggerKey,
} from "@nova/service";
import type { EventTrigger, ScheduleTrigger, Trigger } from "@nova/workflow";
import { beforeEach, describe, expect, it } from "vitest";
import { findClientProblems, findTriggerConflicts } from "../../../packages/service/src/triggers/sync.ts";
import { TriggerWorld } from "../support/trigger-world.ts";

let world: TriggerWorld;
beforeEach(() => {
  world = new TriggerWorld();
});

const mail: Trigger = { type: "mail", id: "mail-1", address: "invoices" };
const hook: Trigger = { type: "webhook", id: "stripe" };
const nightly: Trigger = { type: "schedule", id: "nightly", when: { kind: "every", everySeconds: 86_400 } };
const imap: Trigger = {
  type: "imap",
  id: "imap-1",
  client: "acme",
  credential: "email",
  mailbox: "INBOX",
  everySeconds: 60,
};
const event: Trigger = { type: "event", id: "paid", pattern: { source: ["shop"] }, bus: "nova" };
const all = [mail, hook, nightly, imap, event];

/** Replaces the triggers of one version by the triggers of the next version, as an activation does. */
const sync = async (before: Trigger[], after: Trigger[], id = "invoice") => {
  await putTriggers(world.ports(), id, after);
  await removeTriggers(world.ports(), id, before, after);
};
const keys = () => [...world.triggers.kept.keys()].sort();

describe("the triggers of a workflow version", () => {
  it.each<[Trigger, string]>([
    [mail, "mail/invoices"],
    [hook, "webhook/stripe"],
    [nightly, "of/invoice/nightly"],
    [imap, "of/invoice/imap-1"],
    [event, "of/invoice/paid"],
  ])("are stored under their keys: %j under %s", (trigger, key) => {
    expect(triggerKey("invoice", trigger)).toBe(key);
    expect([mailKey("invoices"), hookKey("stripe"), ownKey("invoice", trigger.id)]).toContain(key);
  });

  it("are all set up, with their schedules and rules", async () => {
    await sync([], all);
    expect(keys()).toEqual([
      "mail/invoices",
      "of/invoice/imap-1",
      "of/invoice/nightly",
      "of/invoice/paid",
      "webhook/stripe",
    ]);
    expect([...world.schedules.kept.keys()]).toEqual(["invoice/nightly", "invoice/imap-1"]);
    expect([...world.eventRules.kept.keys()]).toEqual(["invoice/paid@nova"]);
  });

  it("are removed if the next version does not have them", async () => {
    await sync([], all);
    await sync(all, [mail]);
    expect([keys(), world.schedules.kept.size, world.eventRules.kept.size]).toEqual([["mail/invoices"], 0, 0]);
    await sync([mail], []);
    expect(keys()).toEqual([]);
  });

  it.each<[string, Trigger, Trigger, string[]]>([
    ["a trigger with another address", mail, { ...mail, address: "bills" }, ["mail/bills"]],
    ["a trigger of another kind with the same id", nightly, { ...event, id: "nightly" }, ["of/invoice/nightly"]],
    [
      "a trigger with another time",
      nightly,
      { ...nightly, when: { kind: "at", at: "2026-01-01T00:00:00" } },
      ["of/invoice/nightly"],
    ],
  ])("are replaced by %s", async (_what, before, after, expected) => {
    await sync([], [before]);
    await sync([before], [after]);
    expect(keys()).toEqual(expected);
    expect([...world.triggers.kept.values()].map(({ trigger }) => trigger)).toEqual([after]);
  });

  it("leave no rule on a bus that the next version no longer uses", async () => {
    await sync([], [event]);
    await sync([event], [{ ...event, bus: "default" }]);
    expect([...world.eventRules.kept.keys()]).toEqual(["invoice/paid@default"]);
  });

  it("are set up before old triggers are removed, and triggers with an address that another workflow could take come first", async () => {
    const steps: string[] = [];
    const { put, remove } = world.triggers;
    world.triggers.put = (live) => {
      steps.push(`+${live.key}`);
      return put.call(world.triggers, live);
    };
    world.triggers.remove = (live) => {
      steps.push(`-${live.key}`);
      return remove.call(world.triggers, live);
    };
    await sync([event, { ...hook, id: "old" }], [nightly, mail, imap, hook]);
    const [added, removed] = [steps.slice(0, 4), steps.slice(4)];
    expect(added).toEqual(["+mail/invoices", "+webhook/stripe", "+of/invoice/nightly", "+of/invoice/imap-1"]);
    expect(removed).toEqual(["-of/invoice/paid", "-webhook/old"]);
  });

  it("have a schedule even if a mailbox trigger replaces a schedule with the same id, or the reverse", async () => {
    const named = { ...imap, id: "nightly" };
    await sync([], [nightly]);
    await sync([nightly], [named]);
    expect([...world.schedules.kept.values()]).toMatchObject([{ trigger: "nightly", polls: true }]);
    await sync([named], [nightly]);
    expect([...world.schedules.kept.values()]).toMatchObject([{ trigger: "nightly", expression: "rate(1 day)" }]);
    expect(keys()).toEqual(["of/invoice/nightly"]);
  });

  it("are restored if some were lost and the version is set up again", async () => {
    await sync([], all);
    world.schedules.kept.clear();
    world.triggers.kept.clear();
    await sync(all, all);
    expect([keys().length, world.schedules.kept.size]).toEqual([5, 2]);
  });

  it.each([mail, hook])("cannot replace a trigger of another workflow that has the same key: %j", async (trigger) => {
    await sync([], [trigger], "other");
    const refused = await sync([], [trigger]).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Conflict);
    expect((refused as Conflict).message).not.toMatch(/invoices|stripe|other"/);
    await sync([trigger], []);
    expect([...world.triggers.kept.values()].map(({ workflowId }) => workflowId)).toEqual(["other"]);
  });
});

describe("a finding about triggers", () => {
  it("names each mail address and each webhook that another workflow has", async () => {
    await sync([], [mail, hook], "other");
    await sync([], [nightly], "invoice");
    const findings = await findTriggerConflicts(world.ports(), null, {
      id: "invoice",
      triggers: [nightly, hook, mail],
    });
    expect(findings.map(({ code, path, message }) => [code, path, message])).toEqual([
      [
        "NOVA127",
        "$.triggers[1]",
        'workflow "other" has the webhook "stripe" - choose another id, or DELETE /workflows/other',
      ],
      [
        "NOVA127",
        "$.triggers[2]",
        'workflow "other" has the mail address "invoices" - choose another address, or DELETE /workflows/other',
      ],
    ]);
    expect(await findTriggerConflicts(world.ports(), null, { id: "other", triggers: [mail, hook] })).toEqual([]);
    expect(await findTriggerConflicts(world.ports(), null, { id: "plain" })).toEqual([]);
  });

  it("tells a user with the API key of one client nothing about triggers of other clients or of no client", async () => {
    const theirs = { ...hook, id: "theirs", client: "globex" };
    const own = { ...hook, id: "own", client: "acme" };
    await sync([], [mail, theirs, own], "other");
    const asked = { id: "invoice", triggers: [mail, theirs, own].map((one) => ({ ...one, client: "acme" })) };
    const codes = async (client: string | null) => {
      const by = { id: "key_1", name: "", role: "viewer", client } as const;
      return (await findTriggerConflicts(world.ports(), by, asked)).map(({ path }) => path);
    };
    expect(await codes("acme")).toEqual(["$.triggers[2]"]);
    expect(await codes("globex")).toEqual(["$.triggers[1]"]);
    expect(await codes(null)).toHaveLength(3);
  });

  it("for the API key of one client is the same whether another client exists or not", async () => {
    const asked: string[] = [];
    const clients = { get: async (slug: string) => void asked.push(slug) } as unknown as ClientStore;
    const triggers = ["globex", "nobody"].map((client) => ({ ...nightly, client }));
    const by = { id: "key_1", name: "", role: "viewer", client: "acme" } as const;
    const findings = await findClientProblems({ clients }, by, { triggers });
    expect(findings.map(({ message }) => message.replace("globex", "nobody"))).toEqual(
      Array(2).fill(expect.stringMatching(/^there is no client "nobody"/)),
    );
    expect(asked).toEqual([]);
    await findClientProblems({ clients }, by, { triggers: [{ ...nightly, client: "acme" }] });
    expect(asked).toEqual(["acme"]);
  });

  it("warns of each client that does not exist or is being erased", async () => {
    const there = { format: 1, name: "", pins: {}, createdAt: "2026-01-01T00:00:00.000Z" } as const;
    const erasing = { by: "key_1", since: there.createdAt, part: "executions" } as const;
    const kept: Record<string, Client> = {
      acme: { ...there, slug: "acme" },
      gone: { ...there, slug: "gone", erasing },
    };
    const clients = { get: async (slug: string) => kept[slug] } as ClientStore;
    const named = ["acme", "default", "gone", "nobody"].map((client) => ({ ...nightly, client }));
    const findings = await findClientProblems({ clients }, null, { triggers: [nightly, ...named] });
    expect(findings.map(({ code, severity, path }) => [code, severity, path])).toEqual([
      ["NOVA128", "warning", "$.triggers[3].client"],
      ["NOVA128", "warning", "$.triggers[4].client"],
    ]);
    expect(findings[1]?.message).toMatch(/^there is no client "nobody", so nothing will start for it/);
  });
});

const schedule = (when: ScheduleTrigger["when"], timezone?: string): ScheduleTrigger => ({
  type: "schedule",
  id: "nightly",
  when,
  ...(timezone !== undefined && { timezone }),
});
const every = (everySeconds: number) => schedule({ kind: "every", everySeconds });

describe("the schedule of a trigger", () => {
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
    expect([...world.schedules.kept.values()]).toMatchObject([{ workflow: "invoice", trigger: "nightly", expression }]);
  });

  it("runs for the first time after one period if it has a rate, because its version is probably published by then", async () => {
    await sync([], [every(300)]);
    const now = world.ports().clock.now();
    expect([...world.schedules.kept.values()]).toMatchObject([{ firstAt: new Date(now + 300_000).toISOString() }]);
    await sync([], [schedule({ kind: "cron", cron: "0 9 * * ? *" })]);
    expect([...world.schedules.kept.values()]).toEqual([
      { workflow: "invoice", trigger: "nightly", expression: "cron(0 9 * * ? *)" },
    ]);
  });

  it("has the time zone of its trigger, replaces a schedule with the same name, and is removed with its version", async () => {
    const before = schedule({ kind: "cron", cron: "0 9 * * ? *" }, "Europe/Madrid");
    await sync([], [before]);
    expect([...world.schedules.kept.values()]).toMatchObject([{ timezone: "Europe/Madrid" }]);
    await sync([before], [every(60)]);
    expect([...world.schedules.kept.values()]).toMatchObject([{ expression: "rate(1 minute)" }]);
    await sync([every(60)], []);
    expect(world.schedules.kept.size).toBe(0);
  });
});

describe("the rule of an event trigger", () => {
  const paid: EventTrigger = { type: "event", id: "paid", bus: "default", pattern: { source: ["aws.s3"] } };

  it("exists on the bus of its trigger as long as the trigger exists", async () => {
    await sync([], [paid]);
    const rule = { workflow: "invoice", trigger: "paid", bus: "default", pattern: { source: ["aws.s3"] } };
    expect([...world.eventRules.kept.values()]).toEqual([rule]);
    const own: EventTrigger = { ...paid, bus: "nova" };
    await sync([paid], [own]);
    expect([...world.eventRules.kept.values()]).toEqual([{ ...rule, bus: "nova" }]);
    await sync([own], []);
    expect(world.eventRules.kept.size).toBe(0);
  });
});
