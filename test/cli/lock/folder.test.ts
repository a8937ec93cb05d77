import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readLockFolder, selectPrompts } from "../../../packages/cli/src/lock/folder.ts";
import { lockedOf, locking, makeFolder, promptOf, send, sum, writeFiles } from "./folders.ts";

describe("the workflow folder that nova lock is run for", () => {
  it("is read as a workflow without its lock, with all prompt nodes, including those inside a map", async () => {
    const hand = { code: "a = 1" };
    const inMap = { type: "map", items: "list", nodes: [{ id: "each", type: "action", ...sum }], edges: [] };
    const folder = await makeFolder({ hand, sum, map: inMap });
    const read = await locking(folder, { sum: lockedOf(promptOf(folder)) });
    expect(read.prompts.map(({ node }) => node.id)).toEqual(["sum", "each"]);
    expect(read.workflow.lock).toBeUndefined();
    expect(read.entries).toMatchObject({ sum: { state: "locked" } });
  });

  it("can be named by the path of its definition", async () => {
    const { folder } = await makeFolder();
    expect((await readLockFolder(join(folder, "workflow.json"))).folder).toBe(folder);
  });

  it("can be read with an outdated lock, so that it can be locked a second time", async () => {
    const folder = await makeFolder({ sum }, { workflow: { approval: "required" } });
    await locking(folder, { sum: lockedOf(promptOf(folder)), gone: lockedOf(promptOf(folder)) });
    await writeFiles(folder.folder, { "generated/sum.py": "total = 7\n" });
    expect((await readLockFolder(folder.folder)).entries).toMatchObject({
      gone: { state: "locked" },
      sum: { state: "edited", code: "total = 7\n" },
    });
  });

  it.each([
    ["a lock file that is damaged", { "workflow.lock.json": "{" }, /workflow\.lock\.json is not JSON.*version control/],
    ["a workflow with errors", { "workflow.json": '{"nodes": []}' }, /NOVA103/],
  ])("is refused with %s", async (_, files, sentence) => {
    const { folder } = await makeFolder();
    await writeFiles(folder, files);
    await expect(readLockFolder(folder)).rejects.toThrow(sentence);
  });

  it("cannot be a single file, because a single file has no lock", async () => {
    const { folder } = await makeFolder();
    await writeFile(join(folder, "flow.json"), JSON.stringify({ nodes: [], edges: [] }));
    await expect(readLockFolder(join(folder, "flow.json"))).rejects.toThrow(/single file.*folder with workflow\.json/);
    await rm(join(folder, "workflow.json"));
    await expect(readLockFolder(folder)).rejects.toThrow(/has no workflow\.json/);
  });
});

describe("the prompt nodes that nova lock locks", () => {
  it("are all prompt nodes, or only the node whose id the user names", async () => {
    const folder = await makeFolder({ sum, send });
    expect(selectPrompts(folder, undefined)).toHaveLength(2);
    expect(selectPrompts(folder, "send")).toEqual([promptOf(folder, "send")]);
    expect(() => selectPrompts(folder, "snd")).toThrow(/"snd" is not a prompt node of .*: sum, send/);
  });
});
