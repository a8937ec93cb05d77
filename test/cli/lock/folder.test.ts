import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { namedPrompts, readLockFolder } from "../../../packages/cli/src/lock/folder.ts";
import { lockedOf, locking, makeFolder, promptOf, send, sum, writeFiles } from "./folders.ts";

describe("a folder with prompt nodes", () => {
  it("is read with its prompt nodes, those of a map too, and without its lock", async () => {
    const hand = { code: "a = 1" };
    const inMap = { type: "map", items: "list", nodes: [{ id: "each", type: "action", ...sum }], edges: [] };
    const folder = await makeFolder({ hand, sum, map: inMap });
    const read = await locking(folder, { sum: lockedOf(promptOf(folder)) });
    expect(read.prompts.map(({ node }) => node.id)).toEqual(["sum", "each"]);
    expect(read.workflow.lock).toBeUndefined();
    expect(read.entries).toMatchObject({ sum: { state: "locked" } });
  });

  it("is the same by the name of its file", async () => {
    const { folder } = await makeFolder();
    expect((await readLockFolder(join(folder, "workflow.json"))).folder).toBe(folder);
  });

  it("can be read when what is locked does not fit any more, so that it can be locked again", async () => {
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

  it("has to be one: beside a lone file nothing is locked", async () => {
    const { folder } = await makeFolder();
    await writeFile(join(folder, "flow.json"), JSON.stringify({ nodes: [], edges: [] }));
    await expect(readLockFolder(join(folder, "flow.json"))).rejects.toThrow(/lone file.*beside its workflow\.json/);
    await rm(join(folder, "workflow.json"));
    await expect(readLockFolder(folder)).rejects.toThrow(/has no workflow\.json/);
  });
});

describe("the prompt nodes that are asked for", () => {
  it("are all, or the one that is named", async () => {
    const folder = await makeFolder({ sum, send });
    expect(namedPrompts(folder, undefined)).toHaveLength(2);
    expect(namedPrompts(folder, "send")).toEqual([promptOf(folder, "send")]);
    expect(() => namedPrompts(folder, "snd")).toThrow(/"snd" is no prompt node of .*: sum, send/);
  });
});
