import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type FolderWatch, watchFolders } from "../../../packages/cli/src/dev/watch-folders.ts";

let root: string;
let watch: FolderWatch;
let changed: () => void;
let changes: number;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "nova-watch-"));
  await mkdir(join(root, "flow/nodes"), { recursive: true });
  await writeFile(join(root, "flow/workflow.json"), "{}");
  changes = 0;
  watch = await watchFolders([root], () => {
    changes += 1;
    changed();
  });
});

afterEach(async () => {
  watch.close();
  await rm(root, { recursive: true, force: true });
});

/** Resolves when the change that this work makes was heard. */
function heard(work: () => Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    changed = resolve;
    work().catch(reject);
  });
}

it.each([
  ["the definition", () => writeFile(join(root, "flow/workflow.json"), "{ }")],
  ["a file in a folder of it", () => writeFile(join(root, "flow/nodes/add.py"), "x = 1")],
  ["a file that is gone", () => rm(join(root, "flow/workflow.json"))],
  ["a new workflow", () => mkdir(join(root, "other"))],
])("hears of %s", async (_what, work) => {
  await heard(work);
  expect(changes).toBe(1);
});

it("watches a folder that came later", async () => {
  await heard(() => mkdir(join(root, "other/lib"), { recursive: true }));
  await heard(() => writeFile(join(root, "other/lib/more.py"), "x = 1"));
});

it("tells several files that are written together as one change", async () => {
  const names = ["a.py", "b.py", "c.py"];
  await heard(() => Promise.all(names.map((name) => writeFile(join(root, "flow", name), "x = 1"))));
  expect(changes).toBe(1);
});

it("hears nothing of what belongs to no workflow, so that a log beside them calls for nothing", async () => {
  await mkdir(join(root, ".nova"));
  await writeFile(join(root, ".nova/owner.json"), "{}");
  await writeFile(join(root, "out.log"), "a line");
  await mkdir(join(root, "flow/__pycache__"));
  await heard(() => writeFile(join(root, "flow/last.py"), "x = 1"));
  expect(changes).toBe(1);
});

it("hears nothing any more when it is closed", async () => {
  watch.close();
  await writeFile(join(root, "flow/workflow.json"), "{ }");
  const other = await watchFolders([root], () => changed());
  await heard(() => writeFile(join(root, "flow/workflow.json"), "{  }"));
  other.close();
  expect(changes).toBe(0);
});
