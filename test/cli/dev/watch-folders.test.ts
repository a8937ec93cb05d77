import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FolderNews, watchFolders } from "../../../packages/cli/src/dev/watch-folders.ts";

let root: string;
let watch: Awaited<ReturnType<typeof watchFolders>>;
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
  watch[Symbol.dispose]();
  await rm(root, { recursive: true, force: true });
});

/** Calls `work`, which makes a change, and resolves when the watch has reported the change. */
function heard(work: () => Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    changed = resolve;
    work().catch(reject);
  });
}

it.each([
  ["a change of the definition", () => writeFile(join(root, "flow/workflow.json"), "{ }")],
  ["a new file in a subfolder", () => writeFile(join(root, "flow/nodes/add.py"), "x = 1")],
  ["a deleted file", () => rm(join(root, "flow/workflow.json"))],
  ["a new workflow", () => mkdir(join(root, "other"))],
])("watchFolders reports %s", async (_what, work) => {
  await heard(work);
  expect(changes).toBe(1);
});

it("watchFolders watches a folder that is created later", async () => {
  await heard(() => mkdir(join(root, "other/lib"), { recursive: true }));
  await heard(() => writeFile(join(root, "other/lib/more.py"), "x = 1"));
});

it("watchFolders reports several files that are written together as one change", async () => {
  const names = ["a.py", "b.py", "c.py"];
  await heard(() => Promise.all(names.map((name) => writeFile(join(root, "flow", name), "x = 1"))));
  expect(changes).toBe(1);
});

it("watchFolders ignores files outside workflows, such as a log file next to them", async () => {
  await mkdir(join(root, ".nova"));
  await writeFile(join(root, ".nova/owner.json"), "{}");
  await writeFile(join(root, "out.log"), "a line");
  await mkdir(join(root, "flow/__pycache__"));
  await heard(() => writeFile(join(root, "flow/last.py"), "x = 1"));
  expect(changes).toBe(1);
});

it("watchFolders reports nothing after it is closed", async () => {
  watch[Symbol.dispose]();
  await writeFile(join(root, "flow/workflow.json"), "{ }");
  const other = await watchFolders([root], () => changed());
  await heard(() => writeFile(join(root, "flow/workflow.json"), "{  }"));
  other[Symbol.dispose]();
  expect(changes).toBe(0);
});

describe("a watched root folder that is gone", () => {
  let flow: string;
  let told: FolderNews[];

  beforeEach(async () => {
    flow = join(root, "flow");
    told = [];
    watch[Symbol.dispose]();
    watch = await watchFolders([flow], (_root, news) => {
      told.push(news);
      changed();
    });
  });

  it.each([
    [
      "deleted and made again",
      () => rm(flow, { recursive: true }),
      () => mkdir(join(flow, "nodes"), { recursive: true }),
    ],
    ["moved away and back", () => rename(flow, `${flow}.away`), () => rename(`${flow}.away`, flow)],
    ["moved with the folder around it", () => rename(root, `${root}.away`), () => rename(`${root}.away`, root)],
  ])("is watched again after it was %s", async (_what, leave, comeBack) => {
    await heard(leave);
    await heard(comeBack);
    await heard(() => writeFile(join(flow, "nodes/add.py"), "x = 1"));
    expect(told).toEqual(["gone", "back", "changed"]);
  });

  it("is watched again at once if another folder gets its name", async () => {
    await heard(async () => {
      await rename(flow, `${flow}.away`);
      await mkdir(flow);
    });
    await heard(() => writeFile(join(flow, "workflow.json"), "{}"));
    expect(told).toEqual(["changed", "changed"]);
  });

  it("is reported once, even if files next to it change", async () => {
    // The test moves the folder away in one step. If it deleted the files one by one, the watch could see a half empty
    // folder.
    await heard(() => rename(flow, `${flow}.away`));
    await writeFile(join(root, "beside"), "x");
    await heard(() => mkdir(flow));
    expect(told).toEqual(["gone", "back"]);
  });
});
