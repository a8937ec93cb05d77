import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDetail } from "../../packages/cli/src/commands/answers.ts";
import { InvalidInput } from "../../packages/cli/src/errors.ts";

const exact = '{"id": 12345678901234567890, "total": 850.0}';
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nova-detail-"));
  writeFileSync(join(folder, "detail.json"), exact);
  writeFileSync(join(folder, "list.json"), "[]");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the detail of an event that a command sends", () => {
  it("is sent exactly as it is written in the option or in the file", async () => {
    expect(await readDetail(exact)).toBe(exact);
    expect(await readDetail(`@${join(folder, "detail.json")}`)).toBe(exact);
  });

  it.each(["[1]", "null", "1", "{", ""])("is refused if it is %j", async (text) => {
    await expect(readDetail(text)).rejects.toThrow(InvalidInput);
    await expect(readDetail(text)).rejects.toThrow(/is not a JSON object/);
  });

  it.each([
    ["list.json", /is not a JSON object/],
    ["none.json", /cannot be read \(ENOENT/],
  ])("is refused if its file is %s, which contains a list or does not exist", async (name, message) => {
    await expect(readDetail(`@${join(folder, name)}`)).rejects.toThrow(message);
  });
});
