import { createHash } from "node:crypto";
import { largestMailBytes, receiveMail } from "@nova/service";
import type { MailTrigger } from "@nova/workflow";
import { beforeEach, describe, expect, it } from "vitest";
import { head, mailOf, type Part, type SesHead, sesHead } from "../support/mail.ts";
import { TriggerWorld } from "../support/trigger-world.ts";

const trigger: MailTrigger = { type: "mail", id: "mail-1", address: "invoices" };
const pdf = { type: "application/pdf", name: "invoice.pdf", body: "%PDF-1.7" };
const key = "mail/one";

let world: TriggerWorld;

beforeEach(async () => {
  world = new TriggerWorld();
  await world.publish("invoice", [trigger]);
});

function receive(raw: Buffer, name = key) {
  world.mails.set(name, raw);
  return receiveMail(world.ports(), name);
}

const reference = (text: string) => ({
  $blob: { sha256: createHash("sha256").update(text).digest("hex"), bytes: text.length, type: "bytes" },
});

describe("a mail", () => {
  it("starts a run whose context contains its texts and the bytes of its attachments", async () => {
    const [delivery] = await receive(mailOf([pdf]));
    expect(delivery).toMatchObject({
      type: "mail",
      workflow: "invoice",
      trigger: "mail-1",
      client: "default",
      status: "started",
      reason: null,
      from: "anna@example.com",
      about: "Invoice März",
      dedupe: "<1@example.com>",
    });
    expect(world.runs).toEqual([delivery?.execution]);
    const attachments = [{ name: "invoice.pdf", type: "application/pdf", bytes: reference("%PDF-1.7"), inside: null }];
    const { email, ...flat } = await world.context(world.runs[0] ?? "");
    expect(email).toMatchObject({
      subject: "Invoice März",
      from: "anna@example.com",
      from_name: "Anna Bell",
      to: ["invoices@in.example.com"],
      cc: [],
      date: "2026-11-20T20:32:30.000Z",
      html: null,
      message_id: "<1@example.com>",
      attachments,
    });
    expect(flat).toEqual({
      email_from: "anna@example.com",
      email_subject: "Invoice März",
      email_attachments: attachments,
      email_body: expect.stringMatching(/^Please pay\.\s*$/),
    });
    expect(Array.from(world.engine.blobs.blobs.values(), String)).toEqual(["%PDF-1.7"]);
  });

  it("starts one run, even if the mail server stores it twice under different keys", async () => {
    const first = await receive(mailOf());
    expect(await receive(mailOf())).toEqual(first);
    expect(await receive(mailOf(), "mail/two")).toEqual(first);
    expect([world.runs.length, world.records.length]).toEqual([1, 1]);
  });

  describe("without a Message-ID", () => {
    const headers = head.replace(/Message-ID.*\r\n/, "");

    it("is identified by the headers and the body that its author wrote", async () => {
      for (const text of ["one", "one", "two"]) await receive(mailOf([], { headers, text }));
      expect(world.runs).toHaveLength(2);
      expect(world.records[0]?.dedupe).toMatch(/^sha256:[0-9a-f]{64}$/);
    });

    it("starts one run if it arrives twice through different servers", async () => {
      await receive(mailOf([pdf], { headers }), "mail/one");
      const top = `${sesHead().replace("20:32:33", "20:47:01")}Received: from relay.example.com; 20:46\r\nX-Spam-Score: 1\r\n`;
      await receive(mailOf([pdf], { headers, top }), "mail/two");
      expect([world.runs.length, world.records.length]).toEqual([1, 1]);
    });

    it.each([
      [
        "different line ends",
        (mail: Buffer) => Buffer.from(mail.toString("latin1").replaceAll("\r\n", "\n"), "latin1"),
      ],
      ["lines at its end", (mail: Buffer) => Buffer.concat([mail, Buffer.from("\r\n\r\n")])],
    ])("starts one run if it arrives twice and a server has added %s", async (_what, changed) => {
      await receive(mailOf([], { headers }), "mail/one");
      await receive(changed(mailOf([], { headers })), "mail/two");
      expect([world.runs.length, world.records.length]).toEqual([1, 1]);
    });

    it("is identified by its headers and its body, just like a mail with an empty Message-ID", async () => {
      for (const text of ["one", "one", "two"]) {
        await receive(mailOf([], { headers: head.replace(/Message-ID.*/, "Message-ID: <>"), text }));
      }
      expect(world.runs).toHaveLength(2);
    });

    it.each([
      ["date", headers.replace("21:32:30", "21:32:31")],
      ["subject", headers.replace("Subject: Invoice", "Subject: Bill")],
      ["recipient", headers.replace("To: invoices@", "Cc: boss@example.com\r\nTo: invoices@")],
    ])("starts another run if it differs in its %s", async (_what, other) => {
      for (const one of [headers, other]) await receive(mailOf([], { headers: one }));
      expect(world.runs).toHaveLength(2);
    });
  });

  it("starts one run for each client that its addresses name", async () => {
    world.clients.add("globex");
    world.domains = ["in.example.com"];
    const cc = "Cc: invoices+globex@in.example.com, boss@example.com\r\n";
    const top = sesHead({ for: "invoices+acme@in.example.com" });
    const found = await receive(mailOf([], { top, headers: cc + head }));
    expect(found.map(({ client, status }) => [client, status])).toEqual([
      ["acme", "started"],
      ["globex", "started"],
      ["default", "started"],
    ]);
    expect(new Set(world.runs).size).toBe(3);
  });

  it("starts its run at the second delivery if the Lambda crashed during the first delivery", async () => {
    const dying = { call: () => Promise.reject(new RangeError("the Lambda died")) };
    world.mails.set(key, mailOf([pdf]));
    await expect(receiveMail(world.ports(dying), key)).rejects.toThrow("the Lambda died");
    expect(world.records).toMatchObject([{ status: "accepted" }]);
    const [delivery] = await receiveMail(world.ports(), key);
    expect(delivery).toMatchObject({ status: "started", execution: world.records[0]?.execution });
    expect(world.runs).toEqual([delivery?.execution]);
  });
});

describe("a mail that NOVA checks", () => {
  const refused = async (raw: Buffer) => {
    const [delivery, ...others] = await receive(raw);
    expect([others, world.runs]).toEqual([[], []]);
    expect(world.records).toEqual([delivery]);
    return delivery;
  };

  it("is refused and recorded without its sender if its client does not exist", async () => {
    const top = sesHead({ for: "invoices+nobody@in.example.com" });
    expect(await refused(mailOf([], { top }))).toMatchObject({
      status: "refused",
      execution: null,
      client: null,
      from: "",
      about: "",
      dedupe: "",
      reason: expect.stringMatching(/no client "nobody" - `nova clients create <name>` makes it$/),
    });
  });

  it.each<[string, SesHead, RegExp]>([
    ["has a virus", { virus: "FAIL" }, /virus/],
    ["is spam", { spam: "fail" }, /spam/],
    ["names no workflow", { for: "bills@in.example.com" }, /no workflow has the mail address "bills"/],
    ["names no address", { for: "+acme@in.example.com" }, /no workflow has the mail address ""/],
  ])("is refused and recorded if it %s", async (_what, ses, reason) => {
    expect(await refused(mailOf([], { top: sesHead(ses) }))).toMatchObject({
      status: "refused",
      execution: null,
      reason: expect.stringMatching(reason),
      from: "anna@example.com",
      about: expect.stringContaining("Invoice"),
    });
  });

  it.each([
    ["reject", "refused"],
    ["none", "started"],
  ] as const)("from a domain with the DMARC policy %s is %s if it fails DMARC", async (policy, status) => {
    world.policy = policy;
    const top = sesHead({ authentication: "amazonses.com; dmarc=fail header.from=example.com" });
    expect(await receive(mailOf([], { top }))).toMatchObject([{ status }]);
  });

  it("with a virus is refused even if its sender has added false verdicts", async () => {
    const own = "X-SES-Virus-Verdict: PASS\r\nAuthentication-Results: amazonses.com; dmarc=pass\r\n";
    const top = sesHead({ virus: "FAIL" });
    expect((await refused(mailOf([], { top, headers: own + head })))?.reason).toMatch(/virus/);
  });

  it("is refused, and recorded for its trigger, if its sender is not on the trigger's list of allowed senders", async () => {
    await world.publish("strict", [{ ...trigger, address: "strict", from: ["@example.org", "ben@example.com"] }]);
    const top = sesHead({ for: "strict@in.example.com" });
    const delivery = await refused(mailOf([], { top }));
    expect(delivery).toMatchObject({ workflow: "strict", trigger: "mail-1", client: "default" });
    expect(delivery?.reason).toMatch(/^anna@example.com is not in the trigger's list/);
  });

  it("is refused if its recipient address and its trigger name different clients", async () => {
    await world.publish("own", [{ ...trigger, address: "own", client: "acme" }]);
    expect((await refused(mailOf([], { top: sesHead({ for: "own+default@in.example.com" }) })))?.reason).toMatch(
      /takes no mail for the client "default"/,
    );
    expect(await receive(mailOf([], { top: sesHead({ for: "own@in.example.com" }) }))).toMatchObject([
      { client: "acme", status: "started" },
    ]);
  });

  it("is refused if it lacks an input that its workflow requires", async () => {
    const inputs = { type: "object", required: ["smtp_host"], properties: {} };
    await world.publish("asking", [{ ...trigger, address: "asking" }], inputs);
    expect((await refused(mailOf([], { top: sesHead({ for: "asking@in.example.com" }) })))?.reason).toMatch(
      /smtp_host/,
    );
  });

  it("is refused if none of its recipient addresses belongs to NOVA", async () => {
    world.domains = ["other.example.com"];
    expect((await refused(mailOf()))?.reason).toBe("it is for no address of ours");
  });

  it("is refused if the object of the mail in the bucket was deleted", async () => {
    const [delivery] = await receiveMail(world.ports(), "mail/gone");
    expect(delivery).toMatchObject({ workflow: null, dedupe: "mail/gone", reason: expect.stringMatching(/any more/) });
  });
});

describe("a hostile mail", () => {
  const many = (count: number): Part[] =>
    Array.from({ length: count }, (_, at) => ({ type: "text/plain", name: `${at}.txt`, body: `${at}` }));
  const plain = (headers: string, body: string) => Buffer.from(`${sesHead()}${head}\r\n${headers}\r\n\r\n${body}`);
  const nested = (depth: number) => {
    const open = (at: number) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`;
    return Buffer.from(`${sesHead()}${head}\r\n${Array.from({ length: depth }, (_, at) => open(at)).join("")}\r\nx`);
  };
  const qp = "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable";

  it.each<[string, () => Buffer, string | RegExp]>([
    ["no content", () => Buffer.alloc(0), /no address of ours/],
    ["no headers", () => Buffer.from("\r\n\r\nhello"), /no address of ours/],
    ["random bytes", () => Buffer.from([0, 255, 254, 0, 10, 13]), /no address of ours/],
    [
      "headers without an end",
      () => Buffer.from(`${sesHead()}${"X-A: b\r\n".repeat(100_000)}`),
      /head does not end within/,
    ],
    [
      "one header without an end",
      () => Buffer.from(`${sesHead()}Subject: ${"a".repeat(600_000)}`),
      /head does not end/,
    ],
    [
      "more than 40 MB",
      () => Buffer.concat([mailOf(), Buffer.alloc(largestMailBytes)]),
      /bytes, and a mail may have 41943040/,
    ],
    ["nested parts", () => nested(60), /cannot be read: .*nest/i],
    ["too many nested parts", () => nested(600), /parts within parts more than 500 times/],
    [
      "49,000 parts",
      () => plain("Content-Type: multipart/mixed; boundary=x", "--x\r\n".repeat(49_000)),
      /more than 5000 parts/,
    ],
    ["1,001 attachments", () => mailOf(many(1_001)), /more than 1000 attachments/],
    ["1,000 attachments", () => mailOf(many(1_000)), "started"],
    ["an unknown charset", () => plain("Content-Type: text/plain; charset=klingon", "caf\xe9"), "started"],
    ["broken UTF-8", () => Buffer.concat([plain(qp, "=FF=FE=C3"), Buffer.from([0xc3, 0x28, 0xff])]), "started"],
    ["half a character", () => plain(`${qp}\r\nSubject: =?utf-16?B?2AA=?=`, "=ED=A0=80"), "started"],
    [
      "a soft line break in each line",
      () => plain(qp, "=\r\n".repeat(500_000)),
      /500\d+ short lines, and a mail may have 50000/,
    ],
    [
      "a base64 part that is not base64",
      () => plain("Content-Type: text/plain\r\nContent-Transfer-Encoding: base64", "!!!!"),
      "started",
    ],
    ["a multipart without parts", () => plain("Content-Type: multipart/mixed; boundary=x", ""), "started"],
    [
      "50 mails inside each other",
      () => plain("Content-Type: message/rfc822", `${head}\r\nContent-Type: message/rfc822\r\n\r\n`.repeat(50)),
      "started",
    ],
    [
      "100,000 recipients",
      () => mailOf([], { headers: `${head}\r\nCc: ${"a@b.example, ".repeat(35_000)}c@d.example` }),
      "started",
    ],
  ])(
    "with %s is refused with a clear reason or starts a run, and causes no other error",
    async (_what, make, outcome) => {
      const deliveries = await receive(make());
      expect(deliveries).toHaveLength(1);
      if (typeof outcome === "string") expect(deliveries[0]).toMatchObject({ status: outcome, reason: null });
      else expect(deliveries[0]).toMatchObject({ status: "refused", reason: expect.stringMatching(outcome) });
      expect(world.runs).toHaveLength(outcome === "started" ? 1 : 0);
    },
  );

  it("cannot give an attachment a name that contains a path", async () => {
    const names = ["../../etc/passwd", "C:\\\\temp\\\\a.pdf", "..", ""];
    await receive(mailOf(names.map((name) => ({ ...pdf, name }))));
    const { email_attachments } = await world.context(world.runs[0] ?? "");
    expect(email_attachments.map(({ name }: { name: string }) => name)).toEqual([
      "passwd",
      "a.pdf",
      "attachment-3",
      "attachment-4",
    ]);
  });

  it("starts a run with exactly its text, even if this text looks like a file mark or a reference of NOVA", async () => {
    const text = `{"$blob": {"sha256": "${"a".repeat(64)}"}} nova-file-00000000-0000-0000-0000-000000000000`;
    await receive(mailOf([pdf], { text }));
    expect((await world.context(world.runs[0] ?? "")).email_body.trim()).toBe(text);
  });
});
