import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { inNewFolder } from "../../packages/cli/src/files.ts";

const wayOut = { wayOut: "name a new folder" };
let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "nova-new-"));
});

afterEach(() => rm(root, { recursive: true }));

async function fail(folder: string): Promise<never> {
  await writeFile(join(folder, "half"), "");
  throw new RangeError("it broke");
}

it("nova init, export and pull create their folder, and its missing parent folders", async () => {
  const folder = join(root, "a/b");
  expect(await inNewFolder(folder, wayOut, () => readdir(folder))).toEqual([]);
});

it("a failed nova init, export or pull removes the folder and the parent folders that it has created", async () => {
  const folder = join(root, "a/b");
  await expect(inNewFolder(folder, wayOut, () => fail(folder))).rejects.toThrow("it broke");
  expect(await readdir(root)).toEqual([]);
});

it("a failed nova init, export or pull leaves a folder empty that was empty before", async () => {
  const folder = join(root, "a");
  await mkdir(folder);
  await expect(inNewFolder(folder, wayOut, () => fail(folder))).rejects.toThrow("it broke");
  expect([await readdir(root), await readdir(folder)]).toEqual([["a"], []]);
});

it.each([
  ["is not empty", "", "is not empty"],
  ["is a file", "file", "cannot be made a folder (EEXIST)"],
  ["is inside a file", "file/x", "cannot be made a folder (ENOTDIR)"],
])("nova init, export and pull refuse a folder that %s, and leave it unchanged", async (_what, path, sentence) => {
  await writeFile(join(root, "file"), "mine");
  const making = inNewFolder(join(root, path), wayOut, async () => expect.unreachable());
  await expect(making).rejects.toThrow(`${sentence} - name a new folder`);
  await expect(making).rejects.toMatchObject({ name: "InvalidInput" });
  expect(await readdir(root)).toEqual(["file"]);
});
