import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { checkExport } from "../../../packages/cli/src/archive/import.ts";
import { importAll } from "../../../packages/cli/src/commands/archive.ts";

const sha256 = createHash("sha256").update("one").digest("hex");
const key = `blobs/acme/exec_1/${sha256}`;
const line = (value: object) => `${JSON.stringify(value)}\n`;
const [first, second] = [line({ pk: { S: "a" } }), line({ pk: { S: "b" } })];
const object = line({ key, bytes: 3, sha256 });
const outsiders: string[] = [];
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
  for (const path of [folder, ...outsiders.splice(0)]) await rm(path, { recursive: true });
});

function write(...path: string[]): Promise<void> {
  const text = path.pop() ?? "";
  return writeFile(join(folder, ...path), text);
}

const manifest = { format: 1, client: null, at: "2026-01-01T00:00:00.000Z", items: 2, objects: 1 };

function writeManifest(more: object): Promise<void> {
  return write("nova-export.json", JSON.stringify({ ...manifest, ...more }));
}

/** Replaces a file by a link to an equal file outside the folder. */
async function link(name: string): Promise<void> {
  const outside = `${folder}-outside`;
  outsiders.push(outside);
  await rename(join(folder, name), outside);
  await symlink(outside, join(folder, name));
}

async function fifo(name: string): Promise<void> {
  await rm(join(folder, name));
  execFileSync("mkfifo", [join(folder, name)]);
}

async function renameObject(name: string): Promise<void> {
  const other = `blobs/acme/exec_1/${name}`;
  await rename(join(folder, "objects", key), join(folder, "objects", other));
  await write("objects.ndjson", line({ key: other, bytes: 3, sha256 }));
}

async function addDefinition(hash: string): Promise<void> {
  const text = '{"id":"pay"}';
  const digest = createHash("sha256").update(text).digest("hex");
  const other = `workflows/pay/${hash}.json`;
  await mkdir(join(folder, "objects/workflows/pay"), { recursive: true });
  await write("objects", other, text);
  await appendFile(join(folder, "objects.ndjson"), line({ key: other, bytes: text.length, sha256: digest }));
}

it("checkExport accepts a complete export", async () => {
  await expect(checkExport(folder, { isTrusted: true })).resolves.toMatchObject({ client: null });
});

const again = "- export again, or take another copy of the folder";

it.each<[string, () => Promise<unknown>, string]>([
  [
    "a list that lacks an item",
    () => write("items.ndjson", first),
    `items.ndjson" has 1 lines, but nova-export.json says 2 ${again}`,
  ],
  [
    "a list with an additional item",
    () => appendFile(join(folder, "items.ndjson"), first),
    'items.ndjson" has 3 lines',
  ],
  ["a list that lacks an object", () => write("objects.ndjson", ""), 'objects.ndjson" has 0 lines'],
  [
    "a last line that is cut off",
    () => write("items.ndjson", first + second.slice(0, 9)),
    "has a line that is incomplete",
  ],
  ["a missing list of objects", () => rm(join(folder, "objects.ndjson")), `objects.ndjson" cannot be read ${again}`],
  ["an object that is missing", () => rm(join(folder, "objects", key)), `${key}" cannot be read (ENOENT) ${again}`],
  ["an object that was changed", () => write("objects", key, "two"), `${key}" was changed ${again}`],
  ["an object that was cut off", () => write("objects", key, "on"), `${key}" was changed`],
  ["secrets that are cut off", () => write("secrets.json", "{"), 'secrets.json" was changed'],
  ["secrets that are a link", () => link("secrets.json"), '"secrets.json" is a link that leads out of the folder'],
  ["items that are a link", () => link("items.ndjson"), 'items.ndjson" cannot be read'],
  ["an object that is a link", () => link(join("objects", key)), "cannot be read"],
  ["a FIFO in place of the list of items", () => fifo("items.ndjson"), 'items.ndjson" cannot be read'],
  ["a FIFO in place of an object", () => fifo(join("objects", key)), "cannot be read (ENOENT)"],
  [
    "a line that is longer than any record",
    () => write("items.ndjson", `"${"x".repeat(5_000_000)}"`),
    "longer than any item",
  ],
  ["a manifest that is too large", () => write("nova-export.json", " ".repeat(2_000_000)), "is too large"],
  [
    "a manifest with another digest",
    () => writeManifest({ digest: "0".repeat(64) }),
    "nova-export.json has another digest",
  ],
  ["a signature that is not a text", () => writeManifest({ seal: 7 }), "was changed"],
  [
    "secrets in the export of one client",
    () => writeManifest({ client: "acme" }),
    "must not be in an export of one client",
  ],
  ["an object under another's name", () => renameObject("0".repeat(64)), "does not have the hash in its name"],
  ["a definition under another's name", () => addDefinition("0".repeat(64)), "does not have the hash in its name"],
  ["a missing signature", () => writeManifest({}), "is not verified: it has no signature: NOVA wrote it"],
  ["a manifest that contains only null", () => write("nova-export.json", "null"), "has format undefined"],
])("checkExport refuses %s, and writes nothing", async (_what, damage, sentence) => {
  await damage();
  const dataDir = join(folder, "into");
  vi.stubEnv("NOVA_DATA_DIR", dataDir);
  vi.stubEnv("NOVA_URL", "");
  const importing = importAll.run([folder], {});
  await expect(importing).rejects.toThrow(sentence);
  await expect(importing).rejects.toMatchObject({ name: "InvalidInput" });
  expect(existsSync(dataDir)).toBe(false);
});
