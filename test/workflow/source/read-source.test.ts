import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
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

it("takes of a folder what its workflow names, what lies beside it, and lib", async () => {
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

it("follows the links of lib, which workflows share modules by", async () => {
  const folder = await folderWith({ "shared/mails.py": "z = 1", "w/lib/own.py": "y = 1", "w/workflow.json": text });
  await symlink("../../shared/mails.py", join(folder, "w/lib/mails.py"));
  await symlink("../../shared/gone.py", join(folder, "w/lib/gone.py"));
  expect((await readWorkflowSource(join(folder, "w"))).files).toEqual({
    "lib/mails.py": "z = 1",
    "lib/own.py": "y = 1",
  });
});

it("takes of a lone file only what it names, and its name as the last resort for an id", async () => {
  const folder = await folderWith({ ...files, "Read Mails.json": text });
  const source = await readWorkflowSource(join(folder, "Read Mails.json"));
  expect(Object.keys(source.files)).toEqual(["nodes/read.py"]);
  expect(parseWorkflow(source).workflow).toMatchObject({ id: "read-mails", name: "Read Mails" });
});

it("never reads outside of the folder", async () => {
  const outside = JSON.stringify(row(action("read", { code: undefined, codeFile: "../secret.py" })));
  const folder = await folderWith({ "secret.py": "x = 1", "w/workflow.json": outside });
  const source = await readWorkflowSource(join(folder, "w"));
  expect(source.files).toEqual({});
  expect(parseWorkflow(source).findings).toMatchObject([{ code: "NOVA405" }]);
});

it("leaves text that is not JSON to the parser, with line and column", async () => {
  const folder = await folderWith({ "workflow.json": '{\n  "nodes": [],\n}' });
  expect(parseWorkflow(await readWorkflowSource(folder)).findings).toMatchObject([
    { code: "NOVA102", line: 3, column: 1 },
  ]);
});

it.each([
  ["nothing is there", {}, "missing", 'there is no file or folder "'],
  ["the folder has no workflow.json", { "a.txt": "" }, "", "has no workflow.json - add it"],
  ["the folder has a near miss", { "workflows.json": "" }, "", 'did you mean "workflows.json"?'],
  ["the file is no text", { "a.json": Buffer.from([0xff, 0xfe, 0x00]) }, "a.json", "is not UTF-8 text"],
])("says so where %s", async (_, content, path, words) => {
  const folder = await folderWith(content);
  const error = await readWorkflowSource(join(folder, path)).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(WorkflowSourceError);
  expect((error as WorkflowSourceError).finding).toMatchObject({
    code: "NOVA101",
    message: expect.stringContaining(words),
  });
});
