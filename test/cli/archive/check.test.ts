import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { checkExport } from "../../../packages/cli/src/archive/check.ts";
import { importAll } from "../../../packages/cli/src/commands/import.ts";

const key = "blobs/acme/exec_1/one";
const line = (value: object) => `${JSON.stringify(value)}\n`;
const [first, second] = [line({ pk: { S: "a" } }), line({ pk: { S: "b" } })];
const object = line({ key, bytes: 3, sha256: createHash("sha256").update("one").digest("hex") });
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-check-"));
  await mkdir(join(folder, "objects/blobs/acme/exec_1"), { recursive: true });
  await write("objects", key, "one");
  await write("items.ndjson", first + second);
  await write("objects.ndjson", object);
  await write(
    "nova-export.json",
    line({ format: 1, client: null, at: "2026-01-01T00:00:00.000Z", items: 2, objects: 1 }),
  );
  await write("secrets.json", "{}");
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

function write(...path: string[]): Promise<void> {
  const text = path.pop() ?? "";
  return writeFile(join(folder, ...path), text);
}

it("finds nothing in an export that is whole", async () => {
  await expect(checkExport(folder)).resolves.toBeUndefined();
});

const again = "- export again, or take another copy of the folder";

it.each<[string, () => Promise<unknown>, string]>([
  [
    "an item less",
    () => write("items.ndjson", first),
    `items.ndjson" has 1 lines, and nova-export.json says 2 ${again}`,
  ],
  ["an item more", () => appendFile(join(folder, "items.ndjson"), first), 'items.ndjson" has 3 lines'],
  ["an object less in its list", () => write("objects.ndjson", ""), 'objects.ndjson" has 0 lines'],
  [
    "a last line that is cut off",
    () => write("items.ndjson", first + second.slice(0, 9)),
    "has a line that is cut off",
  ],
  ["no list of objects", () => rm(join(folder, "objects.ndjson")), `objects.ndjson" cannot be read ${again}`],
  ["an object that is missing", () => rm(join(folder, "objects", key)), `${key}" cannot be read (ENOENT) ${again}`],
  ["an object that was changed", () => write("objects", key, "two"), `${key}" is not as it was written ${again}`],
  ["an object that was cut off", () => write("objects", key, "on"), `${key}" is not as it was written`],
  ["secrets that are cut off", () => write("secrets.json", "{"), 'secrets.json" is not as it was written'],
  ["no manifest in its manifest", () => write("nova-export.json", "null"), "has format undefined"],
])("refuses %s, and writes nothing", async (_what, damage, sentence) => {
  await damage();
  const dataDir = join(folder, "into");
  vi.stubEnv("NOVA_DATA_DIR", dataDir);
  vi.stubEnv("NOVA_URL", "");
  const importing = importAll.run([folder], {});
  await expect(importing).rejects.toThrow(sentence);
  await expect(importing).rejects.toMatchObject({ name: "InvalidInput" });
  expect(existsSync(dataDir)).toBe(false);
});
