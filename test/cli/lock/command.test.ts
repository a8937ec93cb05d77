import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runCommandLine } from "../../../packages/cli/src/main.ts";
import { approved, lockedOf, locking, makeFolder, promptOf, send, sum, writeFiles } from "./folders.ts";

let printed: string[];
let warned: string;
beforeEach(() => {
  printed = [];
  warned = "";
  vi.spyOn(console, "log").mockImplementation((line) => void printed.push(String(line)));
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    warned += String(text);
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

describe("nova lock --check", () => {
  it("prints as JSON whether each prompt node could run in a frozen run, and exits with 1 if one could not", async () => {
    const folder = await makeFolder({ sum, send });
    await locking(folder, { sum: { ...lockedOf(promptOf(folder)), key: "0".repeat(64) } });
    expect(await runCommandLine(["lock", folder.folder, "--check", "--json"])).toBe(1);
    expect(JSON.parse(printed.join(""))).toEqual({
      valid: false,
      nodes: [
        { node: "sum", state: "stale", changed: [] },
        { node: "send", state: "unlocked", changed: [] },
      ],
    });
  });

  it("names what has changed in the definition since the code was locked", async () => {
    const made = await makeFolder({ sum: { ...sum, prompt: "Else" } });
    const folder = await makeFolder();
    await locking(folder, { sum: lockedOf(promptOf(made)) });
    expect(await runCommandLine(["lock", folder.folder, "--check", "--json"])).toBe(1);
    const changed = [{ ingredient: "prompt", was: "Else", is: "Add up the lines." }];
    expect(JSON.parse(printed.join(""))).toMatchObject({ nodes: [{ state: "stale", changed }] });
    await runCommandLine(["lock", folder.folder, "--check"]);
    expect(printed.at(-1)).toContain("written for another definition, changed since: the prompt");
  });

  it("exits with 0 if the code of every prompt node is locked and current", async () => {
    const folder = await makeFolder();
    await locking(folder, { sum: lockedOf(promptOf(folder)) });
    expect(await runCommandLine(["lock", folder.folder, "--check"])).toBe(0);
    expect(printed.join("")).toMatch(/every prompt node of .* is locked/);
  });
});

describe("nova lock approve", () => {
  it("records who has approved the locked code, and changes nothing else", async () => {
    const folder = await makeFolder({ sum }, { workflow: { approval: "required" } });
    await locking(folder, { sum: lockedOf(promptOf(folder)) });
    const file = join(folder.folder, "workflow.lock.json");
    const before = await readFile(file, "utf8");
    expect(await runCommandLine(["validate", folder.folder])).toBe(2);
    expect(await runCommandLine(["lock", "approve", folder.folder, "sum", "--as", "ada", "--json"])).toBe(0);
    const { node, approved, code_hash } = JSON.parse(printed.at(-1) ?? "");
    expect({ node, by: approved.by, code_hash }).toEqual({
      node: "sum",
      by: "ada",
      code_hash: lockedOf(promptOf(folder)).codeHash,
    });
    const after = await readFile(file, "utf8");
    const added = after.split("\n").filter((line) => !before.split("\n").includes(line));
    expect(added.map((line) => line.trim().split(":")[0])).toEqual(['"approved"', '"by"', '"at"']);
    expect(await runCommandLine(["validate", folder.folder])).toBe(0);
  });
});

describe("nova lock", () => {
  it.each<[string, (folder: string) => string[], RegExp]>([
    ["a folder that does not exist", () => ["nowhere"], /no file or folder "nowhere"/],
    ["an approval that names no node", (folder) => ["approve", folder], /nova lock approve <folder> <node>/],
    [
      "an approval of a node that is not locked",
      (folder) => ["approve", folder, "sum"],
      /"sum" has no locked code yet/,
    ],
    ["two modes at once", (folder) => [folder, "--check", "--costs"], /--check and --costs exclude each other/],
    ["a word as the number of inputs", (folder) => [folder, "--prove", "all"], /--prove all is not a whole number/],
    ["a proof of a node that does not exist", (folder) => [folder, "su", "--prove", "1"], /"su" is not a prompt node/],
  ])("refuses %s with one sentence", async (_, argv, sentence) => {
    const { folder } = await makeFolder();
    expect(await runCommandLine(["lock", ...argv(folder)])).toBe(2);
    expect(warned).toMatch(sentence);
  });

  it("is the command that the finding about edited locked code recommends", async () => {
    const folder = await makeFolder();
    await locking(folder, { sum: lockedOf(promptOf(folder), { approved }) });
    await writeFiles(folder.folder, { "generated/sum.py": "total = 7" });
    expect(await runCommandLine(["validate", folder.folder, "--json"])).toBe(2);
    expect(JSON.parse(printed.join(""))).toMatchObject({
      diagnostics: [{ code: "NOVA803", file: "generated/sum.py", message: expect.stringContaining("nova lock") }],
    });
  });
});
