import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eachLine } from "../../../packages/cli/src/archive/format.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-lines-"));
});
afterAll(() => rm(folder, { recursive: true }));

it.each([
  ["Unicode's line separators", [JSON.stringify("a\u2028b\u2029c\u0085d"), '"e"']],
  ["lines that are longer than one read", ["ä".repeat(100_000), "€".repeat(70_001), "z"]],
])("eachLine returns %s as they were written", async (_what, lines) => {
  const path = join(folder, "items.ndjson");
  const read: string[] = [];
  for (const end of ["\n", ""]) {
    await writeFile(path, lines.join("\n") + end);
    await eachLine(path, async (line) => void read.push(line));
  }
  expect(read).toEqual([...lines, ...lines]);
});
