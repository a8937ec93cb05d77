import type { lookup } from "node:dns";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { MailboxUnreachable } from "@nova/service";
import { imapMailboxes } from "@nova/service/adapters";
import { createOutgoing } from "@nova/service/outgoing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Dovecot, hasDovecot, openDovecot } from "../../support/dovecot/open-dovecot.ts";
import { head, mailOf } from "../support/mail.ts";

const mailboxes = imapMailboxes(createOutgoing({ allowsPrivate: true }));

describe.skipIf(!hasDovecot)("a mailbox (needs root and: apt-get install dovecot-imapd)", () => {
  let dovecot: Dovecot;
  const address = (changes = {}) => {
    const { port, user, password } = dovecot;
    return { host: "127.0.0.1", port, user, password, mailbox: "INBOX", ...changes };
  };
  const mail = (text: string) => mailOf([], { top: "", headers: head, text });

  beforeAll(async () => {
    dovecot = await openDovecot();
    for (const text of ["one", "two", "three"]) await dovecot.deliver(mail(text));
  });
  afterAll(() => dovecot?.close());

  it("lists unread mails, oldest first, and marks them as read", async () => {
    const mailbox = await mailboxes.open(address());
    const [first, second, ...others] = await mailbox.unread(2);
    expect(others).toEqual([]);
    expect(await first?.read(10_000)).toEqual(mail("one"));
    expect(await second?.read(10)).toEqual(mail("two").subarray(0, 10));
    expect(first?.bytes).toBe(mail("one").length);
    await mailbox.markRead(first?.uid ?? 0);
    expect(await mailbox.unread(10)).toHaveLength(2);
    await mailbox.close();
    expect(await dovecot.flags()).toEqual(["S", "", ""]);
  });

  it.each([
    [
      "refuses the password",
      { password: "wrong" },
      /INBOX at 127.0.0.1:\d+ cannot be read: it refuses the password of anna@/,
    ],
    [
      "does not have the folder of the trigger",
      { mailbox: "Elsewhere" },
      /Elsewhere at .* cannot be read: Mailbox doesn't exist/,
    ],
    ["does not answer", { port: 1 }, /INBOX at 127.0.0.1:1 cannot be read: no mail server answers there/],
  ])("reports the reason if it %s", async (_what, changes, message) => {
    const opening = mailboxes.open(address(changes));
    await expect(opening).rejects.toThrow(MailboxUnreachable);
    await expect(opening).rejects.toThrow(message);
  });
});

describe("a mailbox, while private addresses are forbidden,", () => {
  let open: Server;
  let calls = 0;
  const port = () => (open.address() as AddressInfo).port;

  beforeAll(async () => {
    open = createServer((socket) => {
      calls++;
      socket.end();
    }).listen(0, "127.0.0.1");
    await once(open, "listening");
  });
  afterAll(() => open.close());

  const resolving = (address: string) =>
    ((_host: string, _how: object, done: (error: null, found: object[]) => void) =>
      done(null, [{ address, family: 4 }])) as unknown as typeof lookup;
  const failing = (code: string) =>
    ((_host: string, _how: object, done: (error: Error) => void) =>
      done(Object.assign(new Error(code), { code }))) as unknown as typeof lookup;

  it.each([
    ["a private host that listens", "127.0.0.1", () => 993, resolving("8.8.8.8")],
    ["a name of a private address", "mail.test", () => 993, resolving("10.0.0.1")],
    ["a name of this machine", "localhost", () => 143, resolving("127.0.0.1")],
    ["a private host in another spelling", "0x7f.1", () => 143, resolving("127.0.0.1")],
    ["an unknown name", "mail.test", () => 993, failing("ENOTFOUND")],
    ["a port of another service", "mail.test", port, resolving("8.8.8.8")],
    ["a port of another private service", "127.0.0.1", port, resolving("8.8.8.8")],
  ])("at %s is refused before NOVA connects to it, always with the same message", async (_what, host, port, lookup) => {
    const closed = imapMailboxes(createOutgoing({ allowsPrivate: false, lookup }));
    const address = { host, port: port(), user: "u", password: "p", mailbox: "INBOX" };
    const failure: Error = await closed.open(address).catch((error) => error);
    expect(failure).toBeInstanceOf(MailboxUnreachable);
    expect(failure.message).toMatch(
      /^INBOX at \S+ cannot be read: no mail server answers there with a valid certificate/,
    );
    expect(failure.cause).toMatchObject({ name: "HostRefused" });
    expect(calls).toBe(0);
  });

  it("gets no unencrypted password if its host name only looks like an address of this machine", async () => {
    const heard: string[] = [];
    const greeting = createServer((socket) => {
      socket.write("* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] hello\r\n");
      socket
        .on("error", () => undefined)
        .on("data", (data) => {
          heard.push(String(data));
          const [tag, command] = String(data).split(" ");
          if (command?.trim() === "CAPABILITY") socket.write("* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n");
          socket.write(`${tag} OK done\r\n`);
        });
    }).listen(0, "127.0.0.1");
    await once(greeting, "listening");
    const named = imapMailboxes(createOutgoing({ allowsPrivate: true, lookup: resolving("127.0.0.1") }));
    const address = { port: (greeting.address() as AddressInfo).port, user: "u", password: "s3cret", mailbox: "INBOX" };
    await expect(named.open({ ...address, host: "127.mail.test" })).rejects.toThrow(MailboxUnreachable);
    greeting.close();
    expect(heard.join("")).not.toMatch(/LOGIN|AUTHENTICATE|s3cret/i);
  });

  it("is reported with the same message whether another service or no service listens at its address", async () => {
    const said = async (port: number) => {
      const address = { host: "127.0.0.1", port, user: "u", password: "p", mailbox: "INBOX" };
      const failure: Error = await mailboxes.open(address).catch((error) => error);
      return failure.message.replace(`:${port} `, " ");
    };
    expect(await said(port())).toBe(await said(1));
    expect(calls).toBe(1);
  });
});
