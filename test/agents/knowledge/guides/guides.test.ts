import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { checkPython, nodeGlobals } from "@nova/python";
import { describe, expect, it } from "vitest";
import { readGuide } from "../../../../packages/agents/src/knowledge/guides/guide.ts";
import { topics } from "../../../../packages/agents/src/knowledge/guides/topics.ts";

const folder = new URL("../../../../packages/agents/src/knowledge/shelf/guides/", import.meta.url);
const names = topics.map(({ guide }) => guide);

function blocksOf(text: string): string[] {
  return [...text.matchAll(/^```python\n(.*?)^```$/gms)].map(([, code]) => code as string);
}

describe("the guides", () => {
  it("are one file for each topic", () => {
    expect(
      readdirSync(folder)
        .map((file) => file.replace(/\.md$/, ""))
        .sort(),
    ).toEqual(names.toSorted());
  });

  it.each(names)("%s is short, and has code that a validator accepts", async (name) => {
    const { text } = readGuide(name);
    expect(text.length).toBeGreaterThan(600);
    // A prompt with three of them stays small: four characters are about a token.
    expect(text.length).toBeLessThanOrEqual(1450);
    const blocks = blocksOf(text);
    expect(blocks.length).toBeGreaterThan(0);
    for (const code of blocks) expect(await checkPython(code, { builtins: nodeGlobals })).toEqual([]);
  });

  it.each(names)("%s tells what goes into the context", (name) => {
    expect(blocksOf(readGuide(name).text).join()).toMatch(/^ *context\["\w+"\] = /m);
  });

  it("carry the SHA-256 of their text", () => {
    const { text, hash } = readGuide("pdf");
    expect(hash).toBe(createHash("sha256").update(text).digest("hex"));
    expect(readGuide("json").hash).not.toBe(hash);
  });
});
