import { mkdtemp, open, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { readContext } from "../../../packages/cli/src/input/context.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-context-"));
});

async function fileWith(content: string | Uint8Array): Promise<string> {
  const path = join(folder, `${Math.random()}.json`);
  await writeFile(path, content);
  return path;
}

describe("the initial context of nova run", () => {
  it("is an empty object if no option gives a context", async () => {
    expect(await readContext(undefined, [])).toBe("{}");
  });

  it("keeps every number as written", async () => {
    const file = await fileWith('{"id": 12345678901234567890, "total": 850.0, "deep": [1e400, {"x": 0.10}]}');
    expect(await readContext(file, ["big=98765432109876543210", "price=1.50"])).toBe(
      '{"id":12345678901234567890,"total":850.0,"deep":[1e400, {"x": 0.10}],"big":98765432109876543210,"price":1.50}',
    );
  });

  it("has the value of the last --set for a key, not the value in the file", async () => {
    const file = await fileWith('{"name": "Ada", "n": 1}');
    expect(await readContext(file, ['name="Bo"', 'name="Cy=1"'])).toBe('{"name":"Cy=1","n":1}');
  });

  it.each([
    ['a="\\ud800"', "--set a: the value has half a character - correct it"],
    ['a={"b": 1, "b": 2}', '--set a: the value has the field "b" twice in one object - correct it'],
  ])("is refused if an option is --set %s", async (setting, sentence) => {
    await expect(readContext(undefined, [setting])).rejects.toThrow(sentence);
  });

  it("is read even if its file starts with a byte order mark", async () => {
    expect(await readContext(await fileWith('\uFEFF{"a": 1}'), [])).toBe('{"a":1}');
  });

  it.each<[string, string | Uint8Array, string]>([
    ["is not JSON", "{a: 1}", "is not JSON (Expected"],
    ["is empty", "", "is not JSON (Unexpected end"],
    ["contains a list", "[1]", 'has no JSON object - write {"key": value}'],
    ["contains null", "null", "has no JSON object"],
    ["has the same name twice in an object", '{"a": {"b": 1, "b": 2}}', 'has the field "b" twice in one object'],
    ["has half a character", '{"a": "\\ud800"}', "has half a character"],
    ["is not UTF-8 text", new Uint8Array([0x25, 0x50, 0xff]), "is not UTF-8 text - pass bytes with --file"],
  ])("is refused if its file %s", async (_, content, sentence) => {
    await expect(readContext(await fileWith(content), [])).rejects.toThrow(sentence);
  });

  it("is refused unread if its file is over 64 MB, and the message names the option --file", async () => {
    const file = await fileWith("{}");
    await using handle = await open(file, "r+");
    await handle.truncate(64 * 1024 * 1024 + 1);
    await expect(readContext(file, [])).rejects.toThrow(
      "the limit is 67108864 (64 MB) - pass large values with --file",
    );
  });
});
