import { describe, expect, it } from "vitest";
import { readTnef } from "../../../packages/service/src/mail/attachments.ts";
import { parseMail } from "../../../packages/service/src/mail/parse-mail.ts";
import { head, mailOf, type Part, tnefOf } from "../support/mail.ts";

const pdf = { type: "application/pdf", name: "invoice.pdf", body: "%PDF-1.7" };
const withHeader = (...lines: string[]) => mailOf([], { top: "", headers: [...lines, head].join("\r\n") });
const withSubject = (subject: string) => mailOf([], { headers: head.replace(/Subject: .*/, `Subject: ${subject}`) });
const word = (text: string, cut: number, charset = "UTF-8") => {
  const bytes = Buffer.from(text, charset === "UTF-8" ? "utf8" : "utf16le");
  return [bytes.subarray(0, cut), bytes.subarray(cut)]
    .map((part) => `=?${charset}?B?${part.toString("base64")}?=`)
    .join(" ");
};

describe("the reader of a mail", () => {
  it.each([
    ["split over padded words", "=?UTF-8?B?UmVjaG51bmcgTcM=?= =?UTF-8?B?pHJ6?=", "Rechnung März"],
    ["split over three words", "=?utf-8?b?4g==?= =?utf-8?b?gg==?= =?utf-8?b?rA==?=", "€"],
    ["split over folded lines", "=?UTF-8?B?UmVjaG51bmcgTcM=?=\r\n\t=?UTF-8?B?pHJ6?=", "Rechnung März"],
    ["split over quoted words", "=?UTF-8?Q?M=C3?= =?UTF-8?Q?=A4rz?=", "März"],
    ["split over both encodings", "=?UTF-8?B?TcM=?= =?UTF-8?Q?=A4rz?=", "März"],
    ["split over both encodings, quoted first", "=?UTF-8?Q?M=C3?= =?UTF-8?B?pHJ6?=", "März"],
    ["split over words without padding", "=?UTF-8?B?TcM?= =?UTF-8?B?pHJ6?=", "März"],
    ["split over two names of one charset", "=?utf8?B?TcM=?= =?UTF-8?B?pHJ6?=", "März"],
    ["split over words that state a language", "=?UTF-8*de?B?TcM=?= =?UTF-8*de?B?pHJ6?=", "März"],
    ["split over words without a space", "=?UTF-8?B?TcM=?==?UTF-8?B?pHJ6?=", "März"],
    ["split over padded words of Shift_JIS", "=?Shift_JIS?B?gg==?= =?Shift_JIS?B?oA==?=", "あ"],
    [
      "whole, in padded encoded words of a stateful charset",
      "=?ISO-2022-JP?B?GyRCJCIbKEI=?= =?ISO-2022-JP?B?GyRCJCQbKEI=?=",
      "あい",
    ],
    ["whole, in words of two charsets", "=?UTF-8?B?TcOkcno=?= =?iso-8859-1?B?5A==?=", "Märzä"],
    ["whole, between other text", "a =?UTF-8?B?TcOkcno=?= b", "a März b"],
  ])("decodes encoded words whose letters are %s", async (_what, subject, expected) => {
    expect((await parseMail(withSubject(subject))).subject).toBe(expected);
  });

  it("joins a letter that two encoded words share, split at any byte, in names of people and of files", async () => {
    const text = "Größe 5 €.pdf";
    for (let cut = 1; cut < Buffer.from(text).length; cut++) {
      const headers = head.replace("From: Anna Bell", `From: ${word(text, cut)}`);
      const mail = await parseMail(mailOf([{ ...pdf, name: word(text, cut) }], { headers }));
      expect([mail.from_name, mail.attachments[0]?.name]).toEqual([text, text]);
    }
  });

  it("leaves encoded words in the bodies of mails unchanged", async () => {
    const text = "=?UTF-8?B?TcM=?= =?UTF-8?B?pHJ6?=";
    const mail = await parseMail(mailOf([{ type: "text/plain", name: "a.txt", body: text }], { text }));
    expect([mail.text.trim(), String(Buffer.from(mail.attachments[0]?.bytes ?? []))]).toEqual([text, text]);
  });

  it("reads the reply addresses, the id of the answered mail, and whether a program wrote the mail", async () => {
    const mail = await parseMail(
      withHeader(
        "Reply-To: Desk <Desk@Example.com>, b@example.com",
        "In-Reply-To: <0@example.com>",
        "Auto-Submitted: auto-replied",
      ),
    );
    expect(mail).toMatchObject({
      reply_to: ["desk@example.com", "b@example.com"],
      in_reply_to: "<0@example.com>",
      auto_submitted: "auto-replied",
    });
    expect(await parseMail(mailOf())).toMatchObject({ reply_to: [], in_reply_to: null, auto_submitted: null });
  });

  it("returns all headers decoded, and joins the values of a repeated header with line breaks", async () => {
    const { headers } = await parseMail(
      withHeader("X-Order: =?UTF-8?Q?M=C3=A4rz?=", "Received: from b", "Received: from a", "$blob: 1", "__proto__: 2"),
    );
    expect(headers).toMatchObject({
      "x-order": "März",
      received: "from b\nfrom a",
      from: "Anna Bell <Anna@Example.com>",
    });
    expect(Object.keys(headers)).not.toContain("$blob");
    expect(Object.getOwnPropertyDescriptor(headers, "__proto__")?.value).toBe("2");
  });
});

describe("an attachment that contains attachments", () => {
  const shown = async (parts: Part[]) =>
    (await parseMail(mailOf(parts))).attachments.map(({ name, type, inside }) => [name, type, inside]);
  const forwarded = (...parts: Part[]): Part => ({ type: "message/rfc822", name: "Invoice.eml", body: mailOf(parts) });
  const winmail = {
    type: "application/ms-tnef",
    name: "winmail.dat",
    body: tnefOf([{ title: "a.pdf", data: Buffer.from("%PDF") }]),
  };

  it("is followed by the attachments inside it if it is a forwarded mail", async () => {
    expect(await shown([forwarded(pdf), pdf])).toEqual([
      ["Invoice.eml", "message/rfc822", null],
      ["invoice.pdf", "application/pdf", "Invoice.eml"],
      ["invoice.pdf", "application/pdf", null],
    ]);
  });

  it("named winmail.dat is followed by the files inside it, even in a forwarded mail", async () => {
    expect(await shown([forwarded(winmail)])).toEqual([
      ["Invoice.eml", "message/rfc822", null],
      ["winmail.dat", "application/ms-tnef", "Invoice.eml"],
      ["a.pdf", "application/octet-stream", "winmail.dat"],
    ]);
  });

  it("is not unpacked if it is nested more than five levels deep", async () => {
    const nested = [1, 2, 3, 4, 5, 6, 7].reduce<Part>((inner) => forwarded(inner), pdf);
    expect(await shown([nested])).toHaveLength(6);
  });

  it.each<[string, Part]>([
    ["is not a mail", { type: "message/rfc822", name: "a.eml", body: "" }],
    ["has a NUL in its headers", { type: "message/rfc822", name: "a.eml", body: "From: a\0b\r\n\r\nx" }],
    ["is truncated", { ...winmail, body: winmail.body.subarray(0, 40) }],
  ])("is not unpacked if it %s", async (_what, part) => {
    expect(await shown([part])).toHaveLength(1);
  });

  it("causes the refusal of the mail if the mail has more than 1,000 attachments after unpacking", async () => {
    const many = tnefOf(Array.from({ length: 1_000 }, (_, index) => ({ title: `${index}`, data: Buffer.from("x") })));
    await expect(shown([{ ...winmail, body: many }])).rejects.toThrow("more than 1000 attachments");
  });
});

describe("the reader of the attachment winmail.dat", () => {
  const pdf = Buffer.from("%PDF-1.7");
  const [text8, text16, binary, object] = [0x1e, 0x1f, 0x102, 0x0d];
  const [dataObject, longName, mimeTag] = [0x3701, 0x3707, 0x370e];
  const names = (bytes: Uint8Array) =>
    readTnef(bytes).map(({ name, type, bytes }) => [name, type, String(Buffer.from(bytes))]);

  it("finds each file with its bytes and its short name", () => {
    const raw = tnefOf([
      { title: "INVOIC~1.PDF", data: pdf },
      { title: "b.txt", data: Buffer.from("b") },
    ]);
    expect(names(raw)).toEqual([
      ["INVOIC~1.PDF", "", "%PDF-1.7"],
      ["b.txt", "", "b"],
    ]);
  });

  it.each<[string, number, "latin1" | "utf16le"]>([
    ["8-bit letters", text8, "latin1"],
    ["Unicode", text16, "utf16le"],
  ])("prefers the long name of a file if the name is stored in %s", (_what, type, encoding) => {
    const name = Buffer.from("Rechnung März 2026.pdf\0", encoding);
    const properties = [
      [type, longName, name],
      [type, mimeTag, Buffer.from("application/pdf\0", encoding)],
    ] as [number, number, Buffer][];
    expect(names(tnefOf([{ title: "RECHNU~1.PDF", data: pdf, properties, crowded: true }]))).toEqual([
      ["Rechnung März 2026.pdf", "application/pdf", "%PDF-1.7"],
    ]);
  });

  it.each<[string, number, Buffer]>([
    ["bytes", binary, pdf],
    ["an object", object, Buffer.concat([Buffer.alloc(16), pdf])],
  ])("finds the bytes of a file that are stored as %s among its properties", (_what, type, value) => {
    expect(names(tnefOf([{ title: "a.pdf", properties: [[type, dataObject, value]] }]))).toEqual([
      ["a.pdf", "", "%PDF-1.7"],
    ]);
  });

  it("throws no error, wherever winmail.dat is truncated or has a changed byte", () => {
    const raw = tnefOf([
      { title: "a.pdf", data: pdf, properties: [[text16, longName, Buffer.from("a\0", "utf16le")]], crowded: true },
    ]);
    for (let end = 0; end < raw.length; end++) expect(readTnef(raw.subarray(0, end)).length).toBeLessThanOrEqual(1);
    for (let at = 0; at < raw.length; at++) {
      for (const byte of [0, 1, 0x7f, 0x80, 0xff]) {
        const changed = Buffer.from(raw);
        changed[at] = byte;
        expect(readTnef(changed).length).toBeLessThanOrEqual(2);
      }
    }
  });

  it("finds no file in bytes that are no winmail.dat or contain no attachment", () => {
    expect([new Uint8Array(), Buffer.from("hello"), tnefOf([])].map(readTnef)).toEqual([[], [], []]);
  });
});
