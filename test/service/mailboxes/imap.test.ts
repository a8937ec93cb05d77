import { imapMailboxes, MailboxUnreachable } from "@nova/service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Dovecot, hasDovecot, openDovecot } from "../../support/dovecot/open-dovecot.ts";
import { head, mailOf } from "../support/mail.ts";

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

  it("shows what nobody has read, oldest first, and marks what it is told to", async () => {
    const mailbox = await imapMailboxes.open(address());
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
    ["knows no such folder", { mailbox: "Elsewhere" }, /Elsewhere at .* cannot be read: Mailbox doesn't exist/],
    ["is not there", { port: 1 }, /INBOX at 127.0.0.1:1 cannot be read: connect ECONNREFUSED/],
  ])("says so where it %s", async (_what, changes, message) => {
    const opening = imapMailboxes.open(address(changes));
    await expect(opening).rejects.toThrow(MailboxUnreachable);
    await expect(opening).rejects.toThrow(message);
  });
});
