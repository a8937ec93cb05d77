import { receiveMail } from "@nova/service";
import { dmarcPolicies } from "@nova/service/adapters";
import type { MailTrigger } from "@nova/workflow";
import { beforeEach, describe, expect, it } from "vitest";
import { verdictProblem } from "../../../packages/service/src/mail/receive.ts";
import type { Verdicts } from "../../../packages/service/src/mail/ses-headers.ts";
import { mailOf, sesHead } from "../support/mail.ts";
import { TriggerWorld } from "../support/trigger-world.ts";

const trigger: MailTrigger = { type: "mail", id: "mail-1", address: "invoices" };

let world: TriggerWorld;

beforeEach(async () => {
  world = new TriggerWorld();
  // The attacker sends mail as bank.example, whose DMARC policy asks to reject forged mail.
  world.policy = "reject";
  await world.publish("invoice", [trigger]);
});

async function receive(raw: Buffer) {
  world.mails.set("mail/one", raw);
  const [delivery] = await receiveMail(world.ports(), "mail/one");
  return delivery;
}

/** Returns the header Authentication-Results as SES writes it. The sender can choose each parameter except `dmarc`. */
const authentication = ({ mailFrom = "a@evil.example", helo = "evil.example", dkim = "@evil.example", dmarc = "" }) =>
  `amazonses.com;\r\n spf=pass (spfCheck: domain of ${mailFrom} designates 192.0.2.1 as permitted sender) ` +
  `client-ip=192.0.2.1; envelope-from=${mailFrom}; helo=${helo};\r\n dkim=pass header.i=${dkim};\r\n ` +
  `${dmarc || "dmarc=fail header.from=bank.example"};`;

const rest = "To: invoices@in.example.com\r\nSubject: Pay\r\nMessage-ID: <1@evil.example>";
const fromBank = `From: Bank <pay@bank.example>\r\n${rest}`;
const pass = "dmarc=pass header.from=bank.example";
const forged = `Authentication-Results: amazonses.com; ${pass};\r\n`;

describe("a forged mail is refused if the sender writes a DMARC pass", () => {
  it.each([
    ["into MAIL FROM", { mailFrom: `"x; ${pass}; y"@evil.example` }],
    ["into MAIL FROM, and SES drops the quotes", { mailFrom: `x; ${pass}; y@evil.example` }],
    ["into MAIL FROM, closing SES's comment", { mailFrom: `x); ${pass} (@evil.example` }],
    ["into HELO", { helo: `x; ${pass}` }],
    ["into HELO, opening a quote", { helo: `x; ${pass}; y="` }],
    ["into HELO, opening a comment", { helo: `x; ${pass} (` }],
    ["into i= of DKIM", { dkim: `"x; ${pass}; y"@evil.example` }],
    ["into i= of DKIM, and SES drops the quotes", { dkim: `x; ${pass}` }],
    [
      "so that SES's own result is inside quotes",
      { helo: `x; ${pass}; y="`, dmarc: 'dmarc=fail header.from=bank.example; dkim=pass header.i="@evil.example' },
    ],
    [
      "so that SES's own result is inside a comment",
      { helo: `x; ${pass} (`, dmarc: "dmarc=fail header.from=bank.example; dkim=pass header.i=)@evil.example" },
    ],
    ["with spaces around the equals sign", { helo: `x; dmarc = pass header.from = bank.example` }],
    ["with a comment inside", { helo: `x; dmarc(y)=(z)pass header.from=bank.example` }],
    ["with a version of the method", { helo: `x; dmarc/1=pass header.from=bank.example` }],
    ["while SES has no DMARC result", { helo: `"x; ${pass}"`, dmarc: "none" }],
    ["for a domain of the attacker's", { dmarc: "dmarc=pass header.from=evil.example" }],
    ["for two domains", { dmarc: "dmarc=pass header.from=evil.example header.from=bank.example" }],
    ["for a longer domain", { dmarc: "dmarc=pass header.from=bank.example.evil.example" }],
    ["only in a comment", { dmarc: "dmarc=fail (dmarc=pass) header.from=bank.example" }],
    ["only in quotes", { dmarc: 'dmarc="pass" header.from=bank.example' }],
    ["after a quote without an end", { dmarc: `${pass}; x="` }],
    ["after a comment without an end", { dmarc: `${pass} ((x)` }],
    ["after thousands of letters", { dmarc: `x=${"y".repeat(20_000)}; ${pass}` }],
  ])("into a text that SES copies into its own headers: %s", async (_where, given) => {
    const delivery = await receive(
      mailOf([], { top: sesHead({ authentication: authentication(given) }), headers: fromBank }),
    );
    expect(delivery).toMatchObject({ status: "refused", reason: expect.stringMatching(/not proven .* bank\.example/) });
    expect(world.runs).toEqual([]);
  });

  const failed = sesHead({ authentication: authentication({}) });
  const without = (name: string) => failed.replace(new RegExp(`^${name}:.*\\r\\n(?:[ \\t].*\\r\\n)*`, "m"), "");
  it.each([
    ["below the headers of SES", `${failed}${forged}`],
    ["below the headers of SES, under a name with a space", `${failed}${forged.replace(":", " :")}`],
    ["below the headers of SES, which do not include this header", `${without("Authentication-Results")}${forged}`],
    ["below the headers of SES, one of which is missing", `${without("X-SES-RECEIPT")}${forged}`],
    ["folded into another header", failed.replace("X-SES-RECEIPT: ", `X-SES-RECEIPT: \r\n ${forged} `)],
    ["above the other headers, in the name of another server", sesHead({ authentication: `mx.evil.example; ${pass}` })],
    ["in the name of a server that is similar", sesHead({ authentication: `amazonses.com.evil.example; ${pass}` })],
    ["in the name of a server with properties", sesHead({ authentication: `amazonses.com x=y; ${pass}` })],
    ["without the name of a server", sesHead({ authentication: pass })],
    ["nowhere, so the mail has no result", without("Authentication-Results")],
  ])("into a separate header: %s", async (_where, top) => {
    expect(await receive(mailOf([], { top, headers: fromBank }))).toMatchObject({ status: "refused" });
    expect(world.runs).toEqual([]);
  });
});

describe("a mail is refused if its From header", () => {
  const proven = sesHead({ authentication: authentication({ dmarc: "dmarc=pass header.from=evil.example" }) });
  it.each([
    ["occurs twice", "From: a@evil.example\r\nFrom: pay@bank.example"],
    ["occurs twice, once with a space in its name", "From : a@evil.example\r\nFrom: pay@bank.example"],
    ["is missing", "Sender: a@evil.example"],
    ["names two addresses", "From: a@evil.example, pay@bank.example"],
    ["names a group", "From: us: a@evil.example, pay@bank.example;"],
    ["names one address in a group", "From: us: a@evil.example;"],
    ["has another address as its name", "From: pay@bank.example <a@evil.example>"],
    ["has two addresses in brackets", "From: <pay@bank.example> <a@evil.example>"],
    ["has an address with a route", "From: <@bank.example:a@evil.example>"],
    ["has a quoted address", 'From: "pay@bank.example"@evil.example'],
    ["has an encoded word as its address", "From: =?utf-8?q?=3Cpay=40bank.example=3E?="],
    ["has an encoded word in its address", "From: =?utf-8?q?pay=40bank.example?=@evil.example"],
    ["has a comment in its address", "From: a(pay@bank.example)@evil.example"],
    ["has comments within comments", "From: (a(b) <pay@bank.example>) <a@evil.example>"],
    ["has letters beyond ASCII in its domain", "From: pay@b\u00e4nk.example"],
    ["has no domain", "From: root"],
    ["has a NUL", "From: a@evil.example\0pay@bank.example"],
    ["has a CR without LF", "From: a@evil.example\rFrom: pay@bank.example"],
    ["follows a CR without LF", "Subject: x\rFrom: pay@bank.example\r\nFrom: a@evil.example"],
  ])("does not name exactly one plain address: it %s", async (_what, from) => {
    expect(await receive(mailOf([], { top: proven, headers: `${from}\r\n${rest}` }))).toMatchObject({
      status: "refused",
      reason: expect.stringMatching(/exactly one sender|in two ways/),
    });
    expect(world.runs).toEqual([]);
  });
});

describe("an honest mail starts a run", () => {
  it.each([
    ["with a DMARC pass", "dmarc=pass header.from=bank.example", fromBank],
    ["with a DMARC pass that contains spaces", "dmarc = pass (p=reject) header.from = Bank.Example", fromBank],
    [
      "with the address of the sender as the name of the sender",
      pass,
      `From: pay@bank.example <Pay@bank.example>\r\n${rest}`,
    ],
    [
      "with letters beyond ASCII in the name of the sender",
      pass,
      `From: "B\u00e4nk" <pay@bank.example> (us)\r\n${rest}`,
    ],
  ])("if it comes %s", async (_how, dmarc, headers) => {
    const mailFrom = "bounce+x=y=z@bank.example";
    const top = sesHead({ authentication: authentication({ mailFrom, dmarc }) });
    expect(await receive(mailOf([], { top, headers }))).toMatchObject({ status: "started", from: "pay@bank.example" });
    expect((await world.context(world.runs[0] ?? "")).email_from).toBe("pay@bank.example");
  });

  it("without a DMARC pass if the domain of the sender has no policy for forged mail", async () => {
    world.policy = "none";
    const top = sesHead({ authentication: authentication({}) });
    expect(await receive(mailOf([], { top, headers: fromBank }))).toMatchObject({ status: "started" });
  });
});

const asksTo = (policy: "none" | "quarantine" | "reject") => async () => policy;

describe("the verdicts of SES", () => {
  it.each<[Verdicts, "none" | "quarantine" | "reject", RegExp | undefined]>([
    [{}, "none", undefined],
    [{}, "quarantine", undefined],
    [{}, "reject", /not proven to be from b.example \(DMARC\)/],
    [{ provenDomain: "b.example" }, "reject", undefined],
    [{ provenDomain: "mail.b.example" }, "reject", /not proven/],
    [{ spam: "GRAY", virus: "PROCESSING_FAILED" }, "none", undefined],
    [{ virus: "FAIL", provenDomain: "b.example" }, "none", /virus/],
    [{ spam: "FAIL", provenDomain: "b.example" }, "none", /spam/],
  ])("%j with the policy %s give this reason for a refusal: %s", async (verdicts, policy, reason) => {
    const refused = await verdictProblem(verdicts, "a@b.example", asksTo(policy));
    if (reason === undefined) expect(refused).toBeUndefined();
    else expect(refused).toMatch(reason);
  });

  it("refuse a mail without a sender before any DMARC policy is read", async () => {
    const neverCalled = () => Promise.reject(new RangeError("unexpected read of a policy"));
    expect(await verdictProblem({ provenDomain: "" }, "", neverCalled)).toMatch(/exactly one sender/);
  });
});

describe("the DMARC policy", () => {
  const missing = Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
  const records: Record<string, string[][] | Error> = {
    "_dmarc.a.example": [["v=spf1 -all"], ["v=DMARC1; p=", "reject; sp=none"]],
    "_dmarc.b.example": [["v=DMARC1;P=Quarantine"]],
    "_dmarc.c.example": [["v=DMARC1; rua=mailto:x@y"]],
    "_dmarc.d.example": new Error("the server does not answer"),
    "_dmarc.e.example": Object.assign(new Error("no TXT"), { code: "ENODATA" }),
  };
  const policyOf = dmarcPolicies(async (name) => {
    const found = records[name] ?? missing;
    if (found instanceof Error) throw found;
    return found;
  });

  it.each([
    ["a.example", "reject"],
    ["mail.a.example", "none"],
    ["deep.mail.b.example", "quarantine"],
    ["c.example", "none"],
    ["d.example", "reject"],
    ["e.example", "none"],
    ["unknown.example", "none"],
    ["localhost", "none"],
    ["", "none"],
  ])("of the domain %j is %s", async (domain, expected) => {
    expect(await policyOf(domain)).toBe(expected);
  });

  it("is looked up under at most seven names, however long the sender's domain is", async () => {
    const asked: string[] = [];
    const policy = await dmarcPolicies(async (name) => {
      asked.push(name);
      throw missing;
    })(`${"a.".repeat(100)}b.c.d.e.f.g.example`);
    expect([policy, asked.length, asked[1]]).toEqual(["none", 7, "_dmarc.b.c.d.e.f.g.example"]);
  });
});
