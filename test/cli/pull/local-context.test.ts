import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { buildLocalContext } from "../../../packages/cli/src/commands/pull.ts";

const contents: Record<string, string> = {
  bytes: "%PDF",
  text: 'a long "text"',
  json: '{"total":850.0,"list":[12345678901234567890]}',
  own: '{"$$blob":1,"$file":"x"}',
};

function sha(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function reference(type: "bytes" | "text" | "json", content: string = type): string {
  const text = contents[content] ?? "";
  return JSON.stringify({ $blob: { sha256: sha(text), bytes: text.length, type } });
}

async function load(sha256: string): Promise<Uint8Array | null> {
  const text = Object.values(contents).find((one) => sha(one) === sha256);
  return text === undefined ? null : Buffer.from(text);
}

describe("buildLocalContext", () => {
  it.each([
    ["a number with all of its digits", '{"n":12345678901234567890,"x":850.0}', '{"n":12345678901234567890,"x":850.0}'],
    ["a reference to a text to the text itself", `{"a":${reference("text")}}`, '{"a":"a long \\"text\\""}'],
    ["a reference to JSON to the JSON itself", `{"a":[${reference("json")}]}`, `{"a":[${contents.json}]}`],
    [
      "keys inside a large value like other keys",
      `{"a":${reference("json", "own")}}`,
      '{"a":{"$blob":1,"$$file":"x"}}',
    ],
    [
      "an erased value to null",
      `{"a":{"$blob":{"sha256":"${"0".repeat(64)}","bytes":3,"type":"bytes"}}}`,
      '{"a":null}',
    ],
    ["an object that only looks like a reference to plain data", '{"a":{"$$blob":1}}', '{"a":{"$blob":1}}'],
    ["a key that looks like $file to a key with one more $", '{"a":{"$file":"x"}}', '{"a":{"$$file":"x"}}'],
  ])("converts %s", async (_what, recorded, expected) => {
    const { text, files } = await buildLocalContext(recorded, load);
    expect(text.replaceAll(/\s(?=[^"]*(?:"[^"]*"[^"]*)*$)/g, "")).toBe(
      expected.replaceAll(/\s(?=[^"]*(?:"[^"]*"[^"]*)*$)/g, ""),
    );
    expect(files).toEqual([]);
  });

  it("writes bytes that occur twice in a context to one file", async () => {
    const { text, files } = await buildLocalContext(`{"a":${reference("bytes")},"b":[${reference("bytes")}]}`, load);
    const path = `files/${sha("%PDF").slice(0, 16)}`;
    expect(JSON.parse(text)).toEqual({ a: { $file: path }, b: [{ $file: path }] });
    expect(files).toEqual([{ path, bytes: Buffer.from("%PDF") }]);
  });
});
