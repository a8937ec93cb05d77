import { describe, expect, it } from "vitest";
import { key, words } from "../../../../packages/agents/src/knowledge/guides/patterns.ts";
import { plainText } from "../../../../packages/agents/src/knowledge/guides/plain-text.ts";

describe("words", () => {
  it.each([
    ["mail", "read the mail", true],
    ["mail", "read the mailbox", false],
    ["mail*", "read the mailbox", true],
    ["*rechnung*", "die eingangsrechnungen", true],
    ["base de datos", "en la base de datos", true],
    ["send* … mail*", "send the report in a mail", true],
    ["send* … mail*", "send the report. then read the mail", false],
    ["send* … mail*", "mail is sent", false],
    ["a1, b2", "only b2", true],
  ])("%s in: %s", (phrases, text, matches) => {
    expect(words(phrases).test(text)).toBe(matches);
  });
});

describe("key", () => {
  it.each([
    ["pdf", [], "invoice pdf: bytes", true],
    ["pdf", ["string"], "invoice pdf: bytes", false],
    ["file*", ["string", "bytes"], "files: bytes", true],
    ["bytes", [], "count: bytes", false],
  ] as const)("%s of %j in: %s", (names, types, text, matches) => {
    expect(key(names, ...types).test(text)).toBe(matches);
  });
});

describe("plain text", () => {
  it.each([
    ["Fälligkeit der Größe", "falligkeit der grosse"],
    ["EMISIÓN del año", "emision del ano"],
    ["invoicePdf", "invoice pdf"],
    ["pdf_data_b64", "pdf data b64"],
  ])("of %s is %s", (text, plain) => {
    expect(plainText(text)).toBe(plain);
  });
});
