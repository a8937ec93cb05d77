import { describe, expect, it } from "vitest";
import { guardProblem, largestMailBytes, textLoad } from "../../../packages/service/src/mail/guard.ts";
import {
  addressesIn,
  longestHeadBytes,
  readHeaders,
  senderOf,
  senderProblem,
} from "../../../packages/service/src/mail/headers.ts";
import { recipientsOf } from "../../../packages/service/src/mail/receive.ts";
import { receivedFor, sesHeaders, verdictsOf } from "../../../packages/service/src/mail/ses-headers.ts";
import { head, sesHead } from "../support/mail.ts";

const read = (text: string) => readHeaders(Buffer.from(text)) ?? [];

describe("the header block of a mail", () => {
  it.each([
    [
      "A: b\r\nC: d\r\n\r\nE: f",
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
    ["A: b\n c\n\td\n\nE: f", [["a", "b c d"]]],
    [
      "Subject : x\r\nno header\r\n: none\r\nB:\r\n\r\n",
      [
        ["subject", "x"],
        ["b", ""],
      ],
    ],
    ["A: b", [["a", "b"]]],
    ["\r\n\r\nA: b", []],
  ])("%j is read as %j", (text, expected) => {
    expect(read(text).map(({ name, value }) => [name, value])).toEqual(expected);
  });

  it("is not read if it does not end within the size limit", () => {
    expect(readHeaders(Buffer.alloc(longestHeadBytes, "a"))).toBeUndefined();
    expect(readHeaders(Buffer.alloc(longestHeadBytes - 1, "a"))).toEqual([]);
  });
});

describe("the headers that SES added", () => {
  it("are the first block of headers at the top of a mail", () => {
    const names = sesHeaders(read(sesHead() + head)).map(({ name }) => name);
    expect(names).toEqual(
      ["return-path", "received", "x-ses-spam-verdict", "x-ses-virus-verdict", "received-spf"].concat([
        "authentication-results",
        "x-ses-receipt",
        "x-ses-dkim-signature",
      ]),
    );
  });

  it.each([
    ["directly below them", `${sesHead()}X-SES-Spam-Verdict: FAIL\r\n`, "PASS"],
    [
      "between them and older headers",
      `${sesHead({ spam: "FAIL" })}X-SES-Spam-Verdict: PASS\r\nReceived: from x\r\n`,
      "FAIL",
    ],
    ["after another header", "Received: from ses\r\nX-A: b\r\nX-SES-Spam-Verdict: PASS\r\n", undefined],
  ])("do not include a spam verdict that the sender added %s", (_where, text, spam) => {
    expect(verdictsOf(sesHeaders(read(`${text}\r\n`))).spam).toBe(spam);
  });

  it.each([
    ["amazonses.com; dmarc=pass header.from=A.example;", "a.example"],
    ["amazonses.com 1; spf=fail; dmarc=PASS (p=Reject) header.from=a", "a"],
    ["amazonses.com; dmarc=pass", undefined],
    ["amazonses.com; dmarc=fail header.from=a.example", undefined],
    ["amazonses.com; dmarc=none header.from=a.example", undefined],
    ["amazonses.com", undefined],
    ["", undefined],
    ["mx.evil.example; dmarc=pass header.from=a.example", undefined],
    ["amazonses.com.evil.example; dmarc=pass header.from=a.example", undefined],
  ])("with the authentication result %j prove the sender domain %j", (authentication, expected) => {
    expect(verdictsOf(sesHeaders(read(sesHead({ authentication })))).provenDomain).toBe(expected);
  });

  it("name the recipients even if the name of the sender's server contains keywords of a header", () => {
    const received =
      "Received: from x for eve@in.example (c; d) by inbound-smtp with SMTP id i\r\n for a@b.example;\r\n Fri, 20 Nov";
    expect(receivedFor(read(`${received}\r\n\r\n`))).toEqual(["a@b.example"]);
  });

  it.each([
    ["a@b.example", ["a@b.example"]],
    ["<A@B.example>, c@d.example", ["a@b.example", "c@d.example"]],
    ["nobody", []],
  ])("with the recipients %j name the addresses %j", (to, expected) => {
    expect(receivedFor(sesHeaders(read(sesHead({ for: to }))))).toEqual(expected);
  });
});

describe("the recipients of a mail", () => {
  const of = (top: string, headers: string, domains: string[] = []) => {
    const all = read(`${top}${headers}\r\n`);
    return recipientsOf(all, sesHeaders(all), domains).map(({ address, client }) => [address, client]);
  };

  it.each([
    ["SES names", sesHead({ for: "a+x@in.example" }), "To: b@in.example\r\n", [], [["a", "x"]]],
    [
      "To and Cc name if SES names none",
      "",
      "To: a@x\r\nCc: B+c+d@y\r\n",
      [],
      [
        ["a", undefined],
        ["b", "c+d"],
      ],
    ],
    [
      "SES, To and Cc name in NOVA's domains",
      sesHead({ for: "a@in.example" }),
      "To: c@out.example, b@IN.example\r\n",
      ["in.example"],
      [
        ["a", undefined],
        ["b", undefined],
      ],
    ],
    [
      "both SES and To name, without duplicates",
      sesHead({ for: "a@in.example" }),
      "To: A@in.example\r\n",
      ["in.example"],
      [["a", undefined]],
    ],
  ])("are the addresses that %s", (_what, top, headers, domains, expected) => {
    expect(of(top, headers, domains)).toEqual(expected);
  });

  it("are at most fifty", () => {
    const to = Array.from({ length: 60 }, (_, at) => `a${at}@x`).join(", ");
    expect(of("", `To: ${to}\r\n`)).toHaveLength(50);
  });
});

describe("mail addresses", () => {
  it.each([
    ["a@b.c", ["a@b.c"]],
    ['"x@y.z, \\" q@r" <A@B.c>, (note@d.e) f', ["a@b.c", "note@d.e"]],
    ["group: a@b, c@d;", ["a@b", "c@d"]],
    ["@b, a@, a@b@c", []],
  ])("in the header %j are %j", (value, expected) => {
    expect(addressesIn(value)).toEqual(expected);
  });
});

describe("the sender of a mail", () => {
  it.each([
    ["From: Anna <Anna@B.example>", "anna@b.example"],
    ["From: anna@b.example", "anna@b.example"],
    ['From: "boss@b.example" <eve@c.example>', "eve@c.example"],
    ["From: boss@b.example <eve@c.example>", ""],
    ["From: eve@c.example <Eve@c.example>", "eve@c.example"],
    ["From: nobody", ""],
    ["To: a@b", ""],
  ])("in the headers %j is %j", (line, expected) => {
    expect(senderOf(read(`${line}\r\n\r\n`))).toBe(expected);
  });

  const anna = "From: Anna@Example.com";
  it.each([
    [anna, undefined, undefined],
    [anna, ["anna@example.com"], undefined],
    [anna, ["@example.com"], undefined],
    [anna, ["@ample.com", "nna@example.com", "@sub.example.com"], /anna@example.com is not in the trigger's list/],
    ["To: a@b", ["@b"], /exactly one sender/],
    [`${anna}\r\nFrom: eve@c.example`, ["@example.com"], /exactly one sender/],
    ["From: nobody", ["@b"], /exactly one sender/],
    ["From: a@b, z@evil.example", ["@b"], /exactly one sender/],
    ["From: a@b z@evil.example", ["@b"], /exactly one sender/],
    ["From: a@b <z@evil.example>", ["@b"], /exactly one sender/],
    ["From: <a@b> <z@evil.example>", ["@b"], /exactly one sender/],
    ["From: grp: a@b, z@evil.example;", ["@b"], /exactly one sender/],
    ['From: "z@evil.example, or so" (a, b) <a@b>', ["@b"], undefined],
    ["From: =?utf-8?q?Anna_M=C3=BCller?= < a@b >", ["@b"], undefined],
  ])(
    "in the headers %j with the list of allowed senders %j is refused with the reason %s (undefined: accepted)",
    (line, allowed, reason) => {
      const refused = senderProblem(read(`${line}\r\n\r\n`), allowed);
      if (reason === undefined) expect(refused).toBeUndefined();
      else expect(refused).toMatch(reason);
    },
  );
});

const line = "A".repeat(76);
const words = "These are words and no base64, though there are many";

describe("the check for hostile mail", () => {
  it.each<[string, string, number, number]>([
    ["an empty text", "", 0, 0],
    ["base64", `${line}\r\n`.repeat(3), 0, 0],
    ["base64 without a line break at its end", line, 0, 0],
    ["the short end of base64", `${line}\r\n${"A".repeat(30)}==\r\n`, 34, 0],
    ["words", `${words}\n`, words.length + 1, 0],
    ["short lines", "a\r\nb\n\n", 6, 3],
    ["base64 with one invalid letter", `${line}!\n`, 78, 0],
  ])(
    "counts the bytes and the short lines that a parser must read letter by letter: %s",
    (_what, text, textBytes, shortLines) => {
      expect(textLoad(Buffer.from(text))).toEqual({ textBytes, shortLines });
    },
  );

  const part = "--x\r\nContent-Type: text/plain\r\n\r\n";
  it.each<[string, () => Buffer, RegExp | undefined]>([
    ["an honest mail", () => Buffer.from(`Subject: x\r\n\r\n${words}`), undefined],
    ["39 MB of base64", () => Buffer.from(`${line}\r\n`.repeat(500_000)), undefined],
    [
      "5 MB of words",
      () => Buffer.from(`${words}\r\n`.repeat(100_000)),
      /bytes besides base64, and a mail may have 5242880/,
    ],
    ["50,001 short lines", () => Buffer.from("a\r\n".repeat(50_001)), /50001 short lines/],
    [
      "5,000 parts",
      () => Buffer.from(`Content-Type: multipart/mixed; boundary="x"\r\n\r\n${part.repeat(5_000)}`),
      undefined,
    ],
    [
      "5,001 parts",
      () => Buffer.from(`Content-Type: multipart/mixed; boundary="x"\r\n\r\n${part.repeat(5_001)}`),
      /5000 parts/,
    ],
    [
      "dashes without a boundary",
      () => Buffer.from(`boundary=x\r\n\r\n${"--y and more of the line\r\n".repeat(6_000)}`),
      undefined,
    ],
    [
      "501 boundaries",
      () => Buffer.from(Array.from({ length: 501 }, (_, at) => `boundary=b${at}\r\n`).join("")),
      /more than 500 times/,
    ],
    ["an empty mail", () => Buffer.alloc(0), /^it is empty$/],
    [
      "a mail with one byte too many",
      () => Buffer.alloc(largestMailBytes + 1),
      /41943041 bytes, and a mail may have 41943040/,
    ],
  ])("accepts a mail within the limits, and refuses any other mail with a reason: %s", (_what, make, reason) => {
    const refused = guardProblem(make());
    if (reason === undefined) expect(refused).toBeUndefined();
    else expect(refused).toMatch(reason);
  });
});
