import { describe, expect, it } from "vitest";
import { readTnef } from "../../../packages/service/src/mail/attachments.ts";
import { tnefOf } from "../support/tnef.ts";

const pdf = Buffer.from("%PDF-1.7");
const [text8, text16, binary, object] = [0x1e, 0x1f, 0x102, 0x0d];
const [dataObject, longName, mimeTag] = [0x3701, 0x3707, 0x370e];
const names = (bytes: Uint8Array) =>
  readTnef(bytes).map(({ name, type, bytes }) => [name, type, String(Buffer.from(bytes))]);

describe("a reader of winmail.dat", () => {
  it("finds each file with its bytes, under its short name", () => {
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
  ])("prefers the long name, in %s", (_what, type, encoding) => {
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
  ])("takes the data from %s among the properties", (_what, type, value) => {
    expect(names(tnefOf([{ title: "a.pdf", properties: [[type, dataObject, value]] }]))).toEqual([
      ["a.pdf", "", "%PDF-1.7"],
    ]);
  });

  it("ends without an error for every truncation and for every changed byte", () => {
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

  it("finds no file in other bytes", () => {
    expect([new Uint8Array(), Buffer.from("hello"), tnefOf([])].map(readTnef)).toEqual([[], [], []]);
  });
});
