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

describe("the detail of an event", () => {
  it("is sent as written, from the option or from a file", async () => {
    expect(await readDetail(exact)).toBe(exact);
    expect(await readDetail(`@${join(folder, "detail.json")}`)).toBe(exact);
  });

  it.each(["[1]", "null", "1", "{", ""])("cannot be %j", async (text) => {
    await expect(readDetail(text)).rejects.toThrow(InvalidInput);
    await expect(readDetail(text)).rejects.toThrow(/is not a JSON object/);
  });

  it.each([
    ["list.json", /is not a JSON object/],
    ["none.json", /cannot be read \(ENOENT/],
  ])("cannot come from %s", async (name, message) => {
    await expect(readDetail(`@${join(folder, name)}`)).rejects.toThrow(message);
  });
});
