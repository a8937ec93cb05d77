import { readdirSync } from "node:fs";
import { checkPython, nodeGlobals } from "@nova/python";
import { describe, expect, it } from "vitest";
import { plainText, readGuide } from "../../../../packages/agents/src/knowledge/guides/choose-guides.ts";
import { keyPattern, phrasePattern, topics } from "../../../../packages/agents/src/knowledge/guides/topics.ts";

describe("phrasePattern", () => {
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
    expect(phrasePattern(phrases).test(text)).toBe(matches);
  });
});

describe("keyPattern", () => {
  it.each([
    ["pdf", [], "invoice pdf: bytes", true],
    ["pdf", ["string"], "invoice pdf: bytes", false],
    ["file*", ["string", "bytes"], "files: bytes", true],
    ["bytes", [], "count: bytes", false],
  ] as const)("%s of %j in: %s", (names, types, text, matches) => {
    expect(keyPattern(names, types.join("|") || undefined).test(text)).toBe(matches);
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

const folder = new URL("../../../../packages/agents/src/knowledge/shelf/guides", import.meta.url);
const names = topics.map(({ guide }) => guide);

function blocksOf(text: string): string[] {
  return [...text.matchAll(/^```python\n(.*?)^```$/gms)].map(([, code]) => code as string);
}

describe("the guides", () => {
  it("have one file per topic", () => {
    expect(
      readdirSync(folder)
        .map((file) => file.replace(/\.md$/, ""))
        .sort(),
    ).toEqual(names.toSorted());
  });

  it.each(names)("%s is short, and has code that a validator accepts", async (name) => {
    const { text } = readGuide(name);
    expect(text.length).toBeGreaterThan(600);
    // Keeps a prompt with three guides small; a token has about four characters.
    expect(text.length).toBeLessThanOrEqual(1450);
    const blocks = blocksOf(text);
    expect(blocks.length).toBeGreaterThan(0);
    for (const code of blocks) expect(await checkPython(code, nodeGlobals)).toEqual([]);
  });

  it.each(names)("%s shows how to set the context", (name) => {
    expect(blocksOf(readGuide(name).text).join()).toMatch(/^ *context\["\w+"\] = /m);
  });
});
