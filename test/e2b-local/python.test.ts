import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Sandbox } from "@e2b/code-interpreter";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openE2b } from "../../packages/e2b-local/src/open.ts";
import { choosePython } from "../../packages/e2b-local/src/python.ts";
import { modules } from "./server.ts";

const original = { ...process.env };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nova-python-"));
  delete process.env.E2B_LOCAL_PYTHON;
});
afterEach(() => {
  process.env.PATH = original.PATH;
  if (original.E2B_LOCAL_PYTHON) process.env.E2B_LOCAL_PYTHON = original.E2B_LOCAL_PYTHON;
  rmSync(folder, { recursive: true });
});

/** Creates a fake interpreter that describes itself by `answer`, and counts how often it is asked. */
function fakePython(place: string, answer: { version?: string; missing?: string[] }): string {
  mkdirSync(join(folder, place), { recursive: true });
  const path = join(folder, place, "python3");
  const reply = { path, version: "3.12.1", missing: [], basePrefix: "/usr", executable: path, siteFolders: [] };
  writeFileSync(path, `#!/bin/sh\necho >> ${folder}/asked\necho '${JSON.stringify({ ...reply, ...answer })}'\n`);
  chmodSync(path, 0o755);
  return path;
}

const asked = () => readFileSync(join(folder, "asked"), "utf8").length;

test("the local E2B server chooses the first Python on the PATH that has all packages", async () => {
  const paths = ["a", "b", "c"].map((place, index) => fakePython(place, { missing: index === 0 ? ["fitz"] : [] }));
  process.env.PATH = ["a", "b", "c"].map((place) => join(folder, place)).join(delimiter);
  expect((await choosePython({ modules })).path).toBe(paths[1]);
});

test("the local E2B server chooses the first Python and names the missing packages if no Python has all packages", async () => {
  const path = fakePython("a", { missing: ["fitz", "PIL"] });
  fakePython("b", { missing: ["PIL"] });
  process.env.PATH = [join(folder, "a"), join(folder, "b")].join(delimiter);
  expect(await choosePython({ modules })).toMatchObject({ path, missing: ["fitz", "PIL"] });
});

test("the local E2B server chooses the Python that E2B_LOCAL_PYTHON names, even if it lacks packages", async () => {
  process.env.E2B_LOCAL_PYTHON = fakePython("named", { missing: ["fitz"] });
  expect((await choosePython({ modules })).path).toBe(process.env.E2B_LOCAL_PYTHON);
});

test.each([
  ["too old", () => fakePython("old", { version: "3.9.2" })],
  ["not there", () => join(folder, "nothing")],
])(
  "the error of the local E2B server says what to do if the Python that E2B_LOCAL_PYTHON names is %s",
  async (_, place) => {
    const path = place();
    process.env.E2B_LOCAL_PYTHON = path;
    await expect(choosePython({ modules })).rejects.toThrow(
      `${path} is not a Python 3.10 or newer - set E2B_LOCAL_PYTHON to one`,
    );
  },
);

test("the error of the local E2B server says what to do if there is no Python", async () => {
  process.env.PATH = folder;
  await expect(choosePython({ modules })).rejects.toThrow("install one, or name it in E2B_LOCAL_PYTHON");
});

test("the local E2B server asks interpreters for their packages again only if an interpreter or a package folder has changed", async () => {
  const cache = join(folder, "cache", "python.json");
  const path = fakePython("a", {});
  const site = join(folder, "site");
  process.env.PATH = join(folder, "a");
  const choose = (sites: string[] = []) => choosePython({ modules, sitePackages: sites, cacheFile: cache });
  expect(await choose()).toEqual(await choose());
  expect(asked()).toBe(1);
  utimesSync(path, 1, 1);
  await choose();
  expect(asked()).toBe(2);
  mkdirSync(site);
  await choose([site]);
  await choose([site]);
  expect(asked()).toBe(3);
  writeFileSync(cache, "cut o");
  await choose([site]);
  expect(asked()).toBe(4);
});

test("packages of a Python are found without being imported, and packages for another version of Python do not count", async () => {
  const site = join(folder, "site");
  for (const name of ["fitz", "pandas", "requests", "PIL", "psycopg"]) {
    mkdirSync(join(site, name), { recursive: true });
    writeFileSync(join(site, name, "__init__.py"), "raise RuntimeError('imported')");
  }
  writeFileSync(join(site, "pandas", "core.cpython-27-other.so"), "");
  expect((await choosePython({ modules, sitePackages: [site] })).missing).toEqual(["pandas"]);
});

test("the local E2B server asks each Python for its packages only once, even if the PATH has several names for it", async () => {
  fakePython("a", { missing: ["fitz"] });
  symlinkSync("python3", join(folder, "a", "python"));
  symlinkSync("a", join(folder, "b"));
  process.env.PATH = [join(folder, "a"), join(folder, "b")].join(delimiter);
  await choosePython({ modules });
  expect(asked()).toBe(1);
});

test("the local E2B server reports at its start and to each request for a sandbox that there is no Python", async () => {
  process.env.PATH = folder;
  const server = await openE2b({ apiKey: "e2b_test" });
  const create = () => Sandbox.create("nova", { apiKey: "e2b_test", ...server });
  await expect(server.ready()).rejects.toThrow("install one, or name it in E2B_LOCAL_PYTHON");
  await expect(create()).rejects.toThrow("install one, or name it in E2B_LOCAL_PYTHON");
  await server.close();
});
