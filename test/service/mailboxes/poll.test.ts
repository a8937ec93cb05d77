import { NovaError, StoreUnavailable } from "@nova/engine";
import {
  largestMailBytes,
  type MailboxAddress,
  MailboxUnreachable,
  pollMailbox,
  type ServicePorts,
} from "@nova/service";
import type { ImapTrigger } from "@nova/workflow";
import { beforeEach, describe, expect, it } from "vitest";
import { isPaused, pauseAfter } from "../../../packages/service/src/mailboxes/poll.ts";
import { head, mailOf } from "../support/mail.ts";
import { TriggerWorld } from "../support/trigger-world.ts";

const trigger: ImapTrigger = {
  type: "imap",
  id: "imap-1",
  client: "acme",
  credential: "email",
  mailbox: "INBOX",
  everySeconds: 300,
};
const name = { workflow: "invoice", trigger: "imap-1" };
const values = { imap_host: "imap.acme.example", imap_port: 993, email_user: "anna", email_password: "s3cret" };

let world: TriggerWorld;
/** The unread mails of the mailbox, by uid. */
let unread: Map<number, Buffer>;
let opened: MailboxAddress[];
let failure: Error | undefined;
let asked: unknown[];
let stored: Record<string, unknown> | Error;

beforeEach(async () => {
  world = new TriggerWorld();
  [unread, opened, failure, asked, stored] = [new Map(), [], undefined, [], values];
  await world.publish("invoice", [trigger]);
});

function ports(changes: Partial<ServicePorts> = {}): ServicePorts {
  const base = world.ports();
  const forNode = async (...question: unknown[]) => {
    asked.push(question);
    if (stored instanceof Error) throw stored;
    const members = Object.entries(stored).map(([key, value]) => ({ key, json: JSON.stringify(value) }));
    return { members, secrets: [], hosts: [] };
  };
  const open = async (address: MailboxAddress) => {
    opened.push(address);
    if (failure) throw failure;
    return mailbox;
  };
  const credentials = { ...base.credentials, forNode };
  return { ...base, credentials, mail: { ...base.mail, mailboxes: { open } }, ...changes };
}

const mailbox = {
  unread: async (limit: number) =>
    [...unread].slice(0, limit).map(([uid, raw]) => ({
      uid,
      bytes: raw.length,
      read: async (most: number) => raw.subarray(0, most),
    })),
  async markRead(uid: number) {
    if (!unread.delete(uid)) throw new RangeError(`there is no unread mail ${uid}`);
  },
  close: async () => undefined,
};

const mail = (id: string, text = id) => mailOf([], { top: "", headers: head.replace("<1@", `<${id}@`), text });

describe("unread mails", () => {
  it("start runs of the client in the order of their arrival, and are then marked as read", async () => {
    unread = new Map([
      [7, mail("b")],
      [9, mail("a")],
    ]);
    const found = await pollMailbox(ports(), name);
    expect(found).toMatchObject([
      { type: "imap", client: "acme", status: "started", dedupe: "<b@example.com>" },
      { type: "imap", client: "acme", status: "started", dedupe: "<a@example.com>" },
    ]);
    expect((await world.context(found[0]?.execution ?? "")).email_subject).toBe("Invoice März");
    expect([unread.size, world.runs.length]).toEqual([0, 2]);
    expect(opened).toEqual([
      { host: "imap.acme.example", port: 993, user: "anna", password: "s3cret", mailbox: "INBOX" },
    ]);
    expect(asked).toEqual([["acme", "invoice", ["email"]]]);
  });

  it("start no second run if they were delivered earlier", async () => {
    for (const uid of [1, 2]) {
      unread.set(uid, mail("same"));
      await pollMailbox(ports(), name);
    }
    expect([unread.size, world.runs.length]).toEqual([0, 1]);
  });

  it("of 40 MB and more are refused and marked as read", async () => {
    unread.set(1, Buffer.concat([mail("large"), Buffer.alloc(largestMailBytes)]));
    expect(await pollMailbox(ports(), name)).toMatchObject([
      { status: "refused", dedupe: "<large@example.com>", reason: expect.stringMatching(/a mail may have 41943040/) },
    ]);
    expect(unread.size).toBe(0);
  });

  it("that are not valid mails are refused and marked as read", async () => {
    unread.set(1, Buffer.alloc(0));
    expect(await pollMailbox(ports(), name)).toMatchObject([{ status: "refused", reason: "it is empty" }]);
    expect(unread.size).toBe(0);
  });

  it("stay unread if the first of them cannot start a run", async () => {
    unread = new Map([
      [1, mail("a")],
      [2, mail("b")],
    ]);
    const begin = () => Promise.reject(new StoreUnavailable("DynamoDB does not answer"));
    const deliveries = { ...world.deliveries, begin } as unknown as ServicePorts["deliveries"];
    await expect(pollMailbox(ports({ deliveries }), name)).rejects.toThrow(StoreUnavailable);
    expect([unread.size, world.runs.length]).toEqual([2, 0]);
  });

  it("are left to the next poll after the first fifty, or if the time limit of the poll is over", async () => {
    for (let uid = 1; uid <= 60; uid++) unread.set(uid, Buffer.alloc(0));
    await pollMailbox(ports(), name, AbortSignal.abort());
    expect(unread.size).toBe(60);
    await pollMailbox(ports(), name);
    expect(unread.size).toBe(10);
  });
});

describe("a mailbox that cannot be read", () => {
  const poll = async () => (await pollMailbox(ports(), name)).map(({ status, reason }) => [status, reason]);

  it.each<[string, () => void, RegExp]>([
    ["does not answer", () => (failure = new MailboxUnreachable("no answer")), /^no answer$/],
    ["has no credential", () => (stored = new NovaError("NodeFailed", 'no credential "email"')), /^no credential/],
    ["has a credential of another kind", () => (stored = { db_host: "x" }), /names no mailbox - store one of the kind/],
  ])("because it %s is recorded with that reason", async (_what, prepare, reason) => {
    prepare();
    expect(await poll()).toEqual([["failed", expect.stringMatching(reason)]]);
    expect(world.records).toMatchObject([{ workflow: "invoice", trigger: "imap-1", client: "acme", execution: null }]);
  });

  it("is polled at the next scheduled time, and then less and less often until a poll can read it", async () => {
    failure = new MailboxUnreachable("no answer");
    const tries: number[] = [];
    for (let minute = 0; minute < 60; minute += 5) {
      if ((await poll()).length > 0) tries.push(minute);
      await world.engine.clock.port({ call: async ({ effect }) => effect() }).sleep(300_000);
    }
    expect(tries).toEqual([0, 5, 15, 35]);
    failure = undefined;
    await world.engine.clock.port({ call: async ({ effect }) => effect() }).sleep(3_600_000);
    unread.set(1, mail("a"));
    expect(await poll()).toEqual([["started", null]]);
    expect([...world.triggers.kept.values()][0]?.pause).toBeUndefined();
  });

  it("is recorded only if the error comes from the mailbox, because the poll throws every other error", async () => {
    failure = new TypeError("a mistake of ours");
    await expect(poll()).rejects.toThrow(TypeError);
  });
});

it("a mailbox trigger has a separate schedule, and a poll for a removed trigger does nothing", async () => {
  expect(world.schedules.kept.get("invoice/imap-1")).toEqual({
    ...name,
    expression: "rate(5 minutes)",
    polls: true,
  });
  expect(await pollMailbox(ports(), { ...name, trigger: "other" })).toEqual([]);
  expect(opened).toEqual([]);
});

const now = Date.parse("2026-01-01T00:00:00Z");

describe("the pause between polls of a mailbox that cannot be read", () => {
  it.each([
    [1, 300, 0],
    [2, 300, 600],
    [3, 300, 1200],
    [4, 300, 2400],
    [20, 300, 21_600],
    [2_000, 300, 21_600],
    [2, 86_400, 21_600],
  ])("after %i failures of a poll that runs every %i s lasts %i s", (failures, every, seconds) => {
    const pause = pauseAfter(failures, every, now);
    expect(pause).toEqual({ failures, until: new Date(now + seconds * 1000).toISOString() });
    expect(isPaused(pause, now)).toBe(seconds > 0);
    expect(isPaused(pause, now + seconds * 1000)).toBe(false);
  });

  it("is zero if no poll has failed", () => {
    expect(isPaused(undefined, now)).toBe(false);
  });
});
