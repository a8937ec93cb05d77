import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { harnessFolder } from "@nova/sandbox";
import { afterAll, beforeAll, expect, test } from "vitest";
import { harnessFile } from "../../packages/sandbox/src/harness.ts";
import { zip } from "../../packages/sandbox/src/zip.ts";

const run = promisify(execFile);
const python = process.env.NOVA_PYTHON ?? "python3";
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-zip-"));
});
afterAll(() => rm(folder, { recursive: true }));

const examine = `
import json, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
print(archive.testzip(), json.dumps({name: archive.read(name).decode() for name in archive.namelist()}))`;

test("is an archive that Python finds sound, down to the checksums", async () => {
  const path = join(folder, "a.zip");
  const texts = { "pkg/__init__.py": "x = '€'", "pkg/empty.py": "" };
  await writeFile(
    path,
    Buffer.from(zip(Object.entries(texts).map(([name, text]) => ({ name, data: Buffer.from(text) })))),
  );
  const { stdout } = await run(python, ["-c", examine, path]);
  const [problem, ...found] = stdout.split(" ");
  expect([problem, JSON.parse(found.join(" "))]).toEqual(["None", texts]);
});

test("holds the whole harness, importable as it is", async () => {
  const { data } = await harnessFile(harnessFolder);
  const path = join(folder, "harness.zip");
  await writeFile(path, Buffer.from(data as ArrayBuffer));
  const code = "import sys; sys.path.insert(0, sys.argv[1]); import nova_harness.daemon as d; print(d.__file__)";
  const { stdout } = await run(python, ["-c", code, path]);
  expect(stdout.trim()).toBe(`${path}/nova_harness/daemon.py`);
});
