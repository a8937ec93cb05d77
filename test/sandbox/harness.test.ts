import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cell, cellWith, libFiles, root } from "../../packages/sandbox/src/harness.ts";
import { harnessFile } from "../../packages/sandbox/src/harness-file.ts";

const run = promisify(execFile);
const python = process.env.NOVA_PYTHON ?? "python3";

describe("the file with NOVA's harness, which is uploaded to a sandbox,", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "nova-harness-"));
    await writeFile(join(folder, "harness.py"), (await harnessFile()).data);
  });
  afterAll(() => rm(folder, { recursive: true }));
  const tell = async (code: string) => (await run(python, ["-c", code, join(folder, "harness.py")])).stdout.trim();

  test("contains every module of the harness package", async () => {
    const code = `
import runpy, sys
runpy.run_path(sys.argv[1])
import nova_harness.daemon
print(nova_harness.daemon.__file__, nova_harness.__path__, nova_harness.__doc__ is not None)`;
    expect(await tell(code)).toBe(`${root}/nova_harness/daemon.py [] True`);
  });

  test("contains no other module", async () => {
    const code = `
import runpy, sys
runpy.run_path(sys.argv[1])
for name in ("nova_harness.nothing", "nothing"):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        print(error)`;
    expect(await tell(code)).toBe("No module named 'nova_harness.nothing'\nNo module named 'nothing'");
  });
});

describe("the cells of a kernel", () => {
  test("load the harness once and pass each input to it", async () => {
    const cells = [cell("first"), cellWith("second", 'a "text"'), cell("third")];
    const kernel = `
import json, os, sys, tempfile, types
os.environ["HOME"] = tempfile.mkdtemp()
os.mkdir(os.path.expanduser("~/.nova-sandbox"))
found, looks, find = [], [], os.path.expanduser
def attach(name, root, in_cell):
    text = open(f"{root}/inputs/{name}").read() if in_cell else None
    found.append([name, text])
def expanduser(path):
    looks.append(path)
    return find(path)
os.path.expanduser = expanduser
sys.modules["nova_harness"] = types.SimpleNamespace(attach=attach)
scope = {}
for cell in json.loads(sys.argv[1]): exec(cell, scope)
print(json.dumps([found, looks]))`;
    const { stdout } = await run(python, ["-c", kernel, JSON.stringify(cells)]);
    const inputs = [
      ["first", null],
      ["second", 'a "text"'],
      ["third", null],
    ];
    expect(JSON.parse(stdout)).toEqual([inputs, ["~/.nova-sandbox"]]);
  });
});

test.each([
  ["tools.py", "tools.py"],
  ["lib/tools.py", "tools.py"],
  ["lib/mail/parse.py", "mail/parse.py"],
])("a workflow's module %s is uploaded into the folder lib/ of the sandbox", (name, path) => {
  expect(libFiles({ [name]: "x = 1" })).toEqual([{ path: `${root}/lib/${path}`, data: "x = 1" }]);
});
