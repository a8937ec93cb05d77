import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseWorkflow, readWorkflowSource, WorkflowSourceError } from "@nova/workflow";
import { afterEach, expect, it } from "vitest";
import { action, row } from "../definition.ts";

const folders: string[] = [];
afterEach(() => Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true }))));

async function folderWith(files: Record<string, string | Buffer>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "nova-source-"));
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

const { id: _, ...unnamed } = row(action("read", { code: undefined, codeFile: "nodes/read.py" }));
const text = JSON.stringify(unnamed);
const files = {
  "nodes/read.py": "import mails",
  "nodes/other.py": "x = 1",
  "beside.py": "y = 1",
  "notes.md": "notes",
  "data.bin": "0",
  "lib/mails.py": "z = 1",
  "lib/deep/er.py": "z = 2",
  "lib/data.txt": "0",
};

it("the source of a workflow in a folder has the files that the definition names, the files beside it, and `lib`", async () => {
  const folder = await folderWith({ ...files, "invoices/x": "", "workflow.json": text });
  const source = await readWorkflowSource(folder);
  expect(source).toMatchObject({ text, fileName: "workflow.json", folder: folder.split("/").at(-1) });
  expect(Object.keys(source.files)).toEqual([
    "beside.py",
    "lib/deep/er.py",
    "lib/mails.py",
    "nodes/read.py",
    "notes.md",
  ]);
  expect(parseWorkflow(source).workflow?.lib).toEqual({ "mails.py": "z = 1", "deep/er.py": "z = 2" });
  expect(await readWorkflowSource(join(folder, "workflow.json"))).toEqual(source);
});

it("a link to a file in the workflow's folder is followed, and a broken link counts as absent", async () => {
  const folder = await folderWith({ "w/shared/mails.py": "z = 1", "w/lib/own.py": "y = 1", "w/workflow.json": text });
  await symlink("../shared/mails.py", join(folder, "w/lib/mails.py"));
  await symlink("../shared/gone.py", join(folder, "w/lib/gone.py"));
  await symlink("loop.py", join(folder, "w/lib/loop.py"));
  await symlink("shared", join(folder, "w/nodes"));
  await symlink("mails.py", join(folder, "w/shared/read.py"));
  const files = { "lib/mails.py": "z = 1", "lib/own.py": "y = 1", "nodes/read.py": "z = 1" };
  expect((await readWorkflowSource(join(folder, "w"))).files).toEqual(files);
  await symlink("w", join(folder, "by-link"));
  const byLink = await readWorkflowSource(join(folder, "by-link"));
  expect([byLink.files, byLink.folder]).toEqual([files, "by-link"]);
  await symlink("w/workflow.json", join(folder, "one.json"));
  expect((await readWorkflowSource(join(folder, "one.json"))).text).toBe(text);
});

const promptFile = JSON.stringify(row(action("read", { code: undefined, promptFile: "task.txt" })));
const escaped = text.replace("codeFile", "\\u0063odeFile");

it.each([
  ["a file that a node names", text, "nodes/read.py", "../../secret.py"],
  ["the folder of a file that a node names", text, "nodes", "../outside"],
  ["a prompt file", promptFile, "task.txt", "../secret.py"],
  ["a prompt file whose link has an absolute target", promptFile, "task.txt", "/etc/hostname"],
  ["a module of lib", text, "lib/key.py", "../../secret.py"],
  ["lib as a whole", text, "lib", "../outside"],
  ["lib through another link", text, "lib", "there"],
  ["the lock file", text, "workflow.lock.json", "../secret.py"],
  ["locked code", text, "generated/read.py", "../../secret.py"],
  ["all locked code", text, "generated", "../outside"],
  ["the definition of the workflow", undefined, "workflow.json", "../secret.py"],
  ["a module in a folder whose name begins like that of the workflow's folder", text, "lib/key.py", "../../w-2/key.py"],
] as const)("a link that leads out of the workflow's folder is refused: %s", async (_, definition, path, target) => {
  const outside = { "secret.py": "k3y", "outside/read.py": "k3y", "w-2/key.py": "k3y" };
  const folder = await folderWith({
    ...outside,
    ...(definition !== undefined && { "w/workflow.json": definition }),
    "w/.keep": "",
  });
  await symlink("../outside", join(folder, "w/there"));
  await mkdir(dirname(join(folder, "w", path)), { recursive: true });
  await symlink(target, join(folder, "w", path));
  for (const named of [join(folder, "w"), ...(definition === undefined ? [] : [join(folder, "w/workflow.json")])]) {
    const error = await readWorkflowSource(named).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(WorkflowSourceError);
    expect((error as Error).message).toMatch(/" is a link that leads out of the folder - put the file itself there$/);
  }
});

it("a link out of the workflow's folder is left out if the definition does not name it, or names it only with JSON escapes", async () => {
  const folder = await folderWith({
    "secret.md": "k3y",
    "w/workflow.json": escaped.replace("nodes/read.py", "key.md"),
  });
  await symlink("../secret.md", join(folder, "w/key.md"));
  const source = await readWorkflowSource(join(folder, "w"));
  expect(source.files).toEqual({});
  expect(parseWorkflow(source).findings).toMatchObject([{ code: "NOVA404" }]);
});

it("a FIFO in the workflow's folder does not block the reading, and other special files are not read", async () => {
  const folder = await folderWith({ "workflow.json": text, "lib/own.py": "y = 1" });
  for (const path of ["nodes/read.py", "notes.md", "lib/pipe.py"]) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    execFileSync("mkfifo", [join(folder, path)]);
  }
  await mkdir(join(folder, "folder.txt"));
  await symlink("pipe.py", join(folder, "lib/by-link.py"));
  expect((await readWorkflowSource(folder)).files).toEqual({ "lib/own.py": "y = 1" });
  await rm(join(folder, "workflow.json"));
  execFileSync("mkfifo", [join(folder, "workflow.json")]);
  await expect(readWorkflowSource(folder)).rejects.toThrow("has no workflow.json");
});

it("a file of more than 16 MB in the workflow's folder is refused if the workflow needs it, and is left out otherwise", async () => {
  const folder = await folderWith({ "workflow.json": text, "lib/own.py": "y = 1", "notes.md": "" });
  await truncate(join(folder, "notes.md"), 17 * 1024 * 1024);
  expect(Object.keys((await readWorkflowSource(folder)).files)).toEqual(["lib/own.py"]);
  await truncate(join(folder, "lib/own.py"), 17 * 1024 * 1024);
  await expect(readWorkflowSource(folder)).rejects.toThrow("has 17825792 bytes, and at most 16777216 (16 MB) are read");
});

it("the source of a single definition file has only the files that it names, and the file name as id if it has no id", async () => {
  const folder = await folderWith({ ...files, "Read Mails.json": text });
  const source = await readWorkflowSource(join(folder, "Read Mails.json"));
  expect(Object.keys(source.files)).toEqual(["nodes/read.py"]);
  expect(parseWorkflow(source).workflow).toMatchObject({ id: "read-mails", name: "Read Mails" });
});

it("a file outside the workflow's folder is not read, even if the definition names it", async () => {
  const outside = JSON.stringify(row(action("read", { code: undefined, codeFile: "../secret.py" })));
  const folder = await folderWith({ "secret.py": "x = 1", "w/workflow.json": outside });
  const source = await readWorkflowSource(join(folder, "w"));
  expect(source.files).toEqual({});
  expect(parseWorkflow(source).findings).toMatchObject([{ code: "NOVA405" }]);
});

it("a definition that is not JSON can be read, and the parser then reports line and column", async () => {
  const folder = await folderWith({ "workflow.json": '{\n  "nodes": [],\n}' });
  expect(parseWorkflow(await readWorkflowSource(folder)).findings).toMatchObject([
    { code: "NOVA102", line: 3, column: 1 },
  ]);
});

it.each([
  ["the path does not exist", {}, "missing", 'there is no file or folder "'],
  ["the folder has no workflow.json", { "a.txt": "" }, "", "has no workflow.json - add it"],
  ["the folder has a file with a similar name", { "workflows.json": "" }, "", 'did you mean "workflows.json"?'],
  ["the file contains no text", { "a.json": Buffer.from([0xff, 0xfe, 0x00]) }, "a.json", "is not UTF-8 text"],
])("the source of a workflow cannot be read, and a message says so, if %s", async (_, content, path, words) => {
  const folder = await folderWith(content);
  const error = await readWorkflowSource(join(folder, path)).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(WorkflowSourceError);
  expect((error as WorkflowSourceError).finding).toMatchObject({
    code: "NOVA101",
    message: expect.stringContaining(words),
  });
});
