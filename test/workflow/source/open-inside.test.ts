import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OutsideFolder, openInside } from "@nova/workflow";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

/** The test sets `act`, which runs after openInside has checked the path and before it opens the file. */
const between = vi.hoisted(() => ({ act: async () => {} }));

vi.mock("node:fs/promises", async (importOriginal) => {
  const original = await importOriginal<typeof import("node:fs/promises")>();
  const stat = async (path: string) => {
    const found = await original.stat(path);
    await between.act();
    return found;
  };
  return { ...original, stat };
});

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-inside-"));
  await mkdir(join(folder, "w/nodes"), { recursive: true });
  await mkdir(join(folder, "outside"));
  await writeFile(join(folder, "w/nodes/read.py"), "mine");
  await writeFile(join(folder, "outside/read.py"), "k3y");
});

afterEach(async () => {
  between.act = async () => {};
  await rm(folder, { recursive: true });
});

it("openInside opens a file that is in the given folder", async () => {
  await using file = await openInside(join(folder, "w"), "nodes/read.py");
  expect(await file?.readFile("utf8")).toBe("mine");
});

it("openInside refuses a file if its folder was replaced by a link after the check of the path", async () => {
  between.act = async () => {
    between.act = async () => {};
    await rename(join(folder, "w/nodes"), join(folder, "w/old"));
    await symlink("../outside", join(folder, "w/nodes"));
  };
  await expect(openInside(join(folder, "w"), "nodes/read.py")).rejects.toThrow(OutsideFolder);
});

it("openInside returns the opened file, even if its path is later replaced by a link out of the folder", async () => {
  await using file = await openInside(join(folder, "w"), "nodes/read.py");
  await rm(join(folder, "w/nodes/read.py"));
  await symlink("../../outside/read.py", join(folder, "w/nodes/read.py"));
  expect(await file?.readFile("utf8")).toBe("mine");
});
