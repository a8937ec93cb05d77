import { mkdir, readdir, readFile, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseWorkflow, readWorkflowSource } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { approveLocked } from "../../../packages/cli/src/commands/lock.ts";
import { readLockFolder, writeLock, writeLockFile } from "../../../packages/cli/src/lock/folder.ts";
import {
  approved,
  code,
  lockedOf,
  locking,
  makeFolder,
  promptOf,
  send,
  sum,
  twoStages,
  writeFiles,
} from "./folders.ts";

async function filesOf(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).sort();
}

describe("writeLock", () => {
  it("writes the code files and the lock file, with which the workflow then runs", async () => {
    const folder = await makeFolder();
    const locked = { sum: lockedOf(promptOf(folder)) };
    expect(await writeLock(folder, locked)).toEqual({ removed: [] });
    expect(await filesOf(folder.folder)).toEqual([
      "generated",
      "generated/sum.py",
      "workflow.json",
      "workflow.lock.json",
    ]);
    expect(await readFile(join(folder.folder, "generated/sum.py"), "utf8")).toBe(`${code}\n`);
    const { workflow, findings } = parseWorkflow(await readWorkflowSource(folder.folder));
    expect([workflow?.lock, findings]).toEqual([locked, []]);
  });

  it("writes nothing if there is no code to lock", async () => {
    const folder = await makeFolder();
    await writeLock(folder, {});
    expect(await filesOf(folder.folder)).toEqual(["workflow.json"]);
  });

  it("writes files with the same bytes if nothing has changed", async () => {
    const folder = await makeFolder({ sum, send });
    const locked = { sum: lockedOf(promptOf(folder)), send: lockedOf(promptOf(folder, "send")) };
    await writeLock(folder, locked);
    const before = await readFile(join(folder.folder, "workflow.lock.json"), "utf8");
    await writeLock(await readLockFolder(folder.folder), { send: locked.send, sum: locked.sum });
    expect(await readFile(join(folder.folder, "workflow.lock.json"), "utf8")).toBe(before);
  });

  it.each([
    ["generated/sum.py", "../../outside.py", /generated\/sum.py" is a link - it was not written/],
    ["workflow.lock.json", "../outside.json", /workflow.lock.json" is a link - it was not written/],
    ["generated", "../outside", /"generated" is a link that leads out of the folder/],
  ])("does not write through a link at %s", async (path, target, message) => {
    const made = await makeFolder();
    const folder = { ...made, folder: join(made.folder, "w") };
    await writeFiles(folder.folder, { "workflow.json": "{}" });
    await mkdir(dirname(join(folder.folder, path)), { recursive: true });
    await mkdir(join(made.folder, "outside"), { recursive: true });
    await symlink(target, join(folder.folder, path));
    const before = await readdir(made.folder, { recursive: true });
    await expect(writeLock(folder, { sum: lockedOf(promptOf(made)) })).rejects.toThrow(message);
    const news = (await readdir(made.folder, { recursive: true })).filter((name) => !before.includes(name));
    expect(news.filter((name) => name.includes("outside"))).toEqual([]);
  });

  it("keeps the line ends of a locked file", async () => {
    const made = await makeFolder();
    const locked = { sum: lockedOf(promptOf(made)) };
    await locking(made, locked);
    await writeFiles(made.folder, { "generated/sum.py": `${code}\r\n` });
    await writeLock(await readLockFolder(made.folder), locked);
    expect(await readFile(join(made.folder, "generated/sum.py"), "utf8")).toBe(`${code}\r\n`);
  });

  it("writes both files of code that needs an analysis, and removes the analysis when the code does not need it any more", async () => {
    const made = await makeFolder();
    const both = { sum: lockedOf(promptOf(made), twoStages) };
    await writeLock(made, both);
    const generated = join(made.folder, "generated");
    expect(await filesOf(generated)).toEqual(["sum.analysis.py", "sum.py"]);
    expect(await readFile(join(generated, "sum.analysis.py"), "utf8")).toBe(`${twoStages.analysis}\n`);
    const { workflow, findings } = parseWorkflow(await readWorkflowSource(made.folder));
    expect([workflow?.lock, findings]).toEqual([both, []]);
    await writeLock(await readLockFolder(made.folder), { sum: lockedOf(promptOf(made)) });
    expect(await filesOf(generated)).toEqual(["sum.py"]);
  });

  it.each([
    ["not edited", {}, []],
    ["edited", { "generated/sum.analysis.py": "mine = 1" }, ["sum.analysis.py", "sum.py"]],
  ])("removes the analysis of a removed node unless the user has edited the analysis (%s)", async (_, files, left) => {
    const made = await makeFolder();
    await locking(made, { sum: lockedOf(promptOf(made), twoStages) });
    await writeFiles(made.folder, files);
    await writeLock(await readLockFolder(made.folder), {});
    expect(await filesOf(join(made.folder, "generated"))).toEqual(left);
  });

  it("removes the code files that are no longer locked, except edited files", async () => {
    const made = await makeFolder({ sum, send });
    const [one, two] = [lockedOf(promptOf(made)), lockedOf(promptOf(made, "send"))];
    await locking(made, { sum: one, send: two });
    await writeFiles(made.folder, { "generated/send.py": "mine = 1" });
    expect(await writeLock(await readLockFolder(made.folder), {})).toEqual({ removed: ["send", "sum"] });
    expect(await filesOf(join(made.folder, "generated"))).toEqual(["send.py"]);
    expect((await readLockFolder(made.folder)).entries).toEqual({});
  });
});

describe("an approval of locked code", () => {
  const locked = async () => {
    const folder = await makeFolder({ sum, send }, { workflow: { approval: "required" } });
    return locking(folder, { sum: lockedOf(promptOf(folder)) });
  };

  it("records the person and the time, and changes only the lock file", async () => {
    const folder = await locked();
    await writeLockFile(folder, approveLocked(folder, "sum", approved));
    const { workflow, findings } = parseWorkflow(await readWorkflowSource(folder.folder));
    expect([workflow?.lock?.sum?.approved, findings]).toEqual([approved, []]);
  });

  it("keeps the lock entries of other nodes, even if the user edited the code of these nodes", async () => {
    const made = await makeFolder({ sum, send });
    await locking(made, { sum: lockedOf(promptOf(made)), send: lockedOf(promptOf(made, "send")) });
    await writeFiles(made.folder, { "generated/send.py": "mine = 1" });
    const folder = await readLockFolder(made.folder);
    await writeLockFile(folder, approveLocked(folder, "sum", approved));
    expect((await readLockFolder(made.folder)).entries).toMatchObject({
      sum: { state: "locked", record: { approved } },
      send: { state: "edited", code: "mine = 1" },
    });
  });

  it.each<[string, string, (folder: string) => Promise<void>, RegExp]>([
    ["a node that is no prompt node", "sm", async () => undefined, /"sm" is not a prompt node/],
    ["a node without locked code", "send", async () => undefined, /"send" has no locked code yet - run nova lock/],
    ["edited code", "sum", (folder) => writeFiles(folder, { "generated/sum.py": "x" }), /edited since it was locked/],
    ["code whose file is missing", "sum", (folder) => rm(join(folder, "generated/sum.py")), /sum\.py does not exist/],
  ])("is refused for %s", async (_, node, happened, sentence) => {
    const { folder } = await locked();
    await happened(folder);
    const read = await readLockFolder(folder);
    expect(() => approveLocked(read, node, approved)).toThrow(sentence);
  });
});
