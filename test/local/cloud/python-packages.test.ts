import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { templateName } from "@nova/workflow";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Python } from "../../../packages/e2b-local/src/python.ts";
import {
  ensurePython,
  findPython,
  installRequirements,
  type Machine,
} from "../../../packages/local/src/cloud/python-packages.ts";
import { makeWheel } from "./support/wheel.ts";

const run = promisify(execFile);

let python: Python;
let folder: string;
let wheel: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-packages-"));
  python = await findPython([]);
  wheel = await makeWheel(python, folder);
});

afterAll(() => rm(folder, { recursive: true }));

describe("the requirements of a workflow", () => {
  it("are installed once, into a folder that is either complete or absent", { tags: ["deep"] }, async () => {
    const target = join(folder, "templates", "a");
    await Promise.all([installRequirements(python, [wheel], target), installRequirements(python, [wheel], target)]);
    const { stdout } = await run(python.path, ["-c", "import novatiny; print(novatiny.answer)"], {
      env: { ...process.env, PYTHONPATH: target },
    });
    expect(stdout).toBe("42\n");
    expect(await readdir(join(folder, "templates"))).toEqual(["a"]);
    // The code of the package is already compiled. Otherwise sandboxes would compile it at every start, because they
    // cannot write into this folder.
    expect(await readdir(target, { recursive: true })).toContainEqual(expect.stringMatching(/novatiny.*\.pyc$/));
    await installRequirements(python, ["this is already there"], target);
  });

  it("cause a short error and leave no file if pip refuses them", async () => {
    const target = join(folder, "refused");
    await expect(installRequirements(python, ["not a ! requirement"], target)).rejects.toThrow(
      /the requirements not a ! requirement cannot be installed \(.*Invalid requirement.*\) - correct them/,
    );
    expect(existsSync(target)).toBe(false);
    expect((await readdir(folder)).filter((name) => name.startsWith("refused"))).toEqual([]);
  });

  it.each([
    ["an option", "--no-index", "Invalid requirement"],
    ["a text with a NUL character", "novatiny\u0000", "without null bytes"],
  ])("are refused if one of them is %s", async (_, line, reason) => {
    vi.stubEnv("PIP_NO_INDEX", "1");
    const target = join(folder, "templates", "b");
    await expect(installRequirements(python, [line], target)).rejects.toThrow(reason);
    expect(existsSync(target)).toBe(false);
    vi.unstubAllEnvs();
  });

  it("are each passed to pip as one argument after the options, and pip runs in an empty folder", async () => {
    const asked: unknown[] = [];
    const machine: Machine = {
      takesDebianPackages: false,
      findPython: () => expect.fail("it is chosen already"),
      async run(command, args, cwd) {
        asked.push([command, ...args.slice(args.indexOf("--target")), cwd]);
        return { ok: false, reason: "no" };
      },
    };
    const target = join(folder, "templates", "c");
    const lines = ["-e .", "pandas\n-r more.txt", "pandas \\\n-e .", "$HOME/x.whl"];
    await expect(installRequirements(python, lines, target, machine)).rejects.toThrow("(no)");
    const draft = expect.stringMatching(/\/templates\/c\.[0-9a-f-]+$/);
    expect(asked).toEqual([[python.path, "--target", draft, "--", ...lines, draft]]);
  });

  it("are not installed if the user presses Ctrl-C, and leave no file", async () => {
    const slow = join(folder, "slow");
    await writeFile(slow, "#!/bin/sh\nexec sleep 60\n", { mode: 0o755 });
    const target = join(folder, "interrupted");
    const before = process.listenerCount("SIGINT");
    const installing = installRequirements({ ...python, path: slow }, ["novatiny"], target);
    const refused = expect(installing).rejects.toThrow("interrupted: nothing was installed");
    await vi.waitFor(() => expect(process.listenerCount("SIGINT")).toBe(before + 1));
    process.emit("SIGINT");
    await refused;
    expect((await readdir(folder)).filter((name) => name.startsWith("interrupted"))).toEqual([]);
    expect(process.listenerCount("SIGINT")).toBe(before);
  });

  it("result in the same template in any order", () => {
    expect(templateName(["pypdf==5.0", " rich "])).toBe(templateName(["rich", "pypdf==5.0"]));
    expect(templateName(["rich"])).toMatch(/^nova-[0-9a-f]{12}$/);
    expect(templateName(["rich"])).not.toBe(templateName(["rich==13.0"]));
  });
});

type Step = { lacks: string[] } | { runs: RegExp; reason: string };

/**
 * Returns a machine that expects exactly these steps in this order. A step is the list of modules that Python lacks, or
 * the result of a command.
 */
function machineThat(steps: Step[], takesDebianPackages: boolean): Machine {
  return {
    takesDebianPackages,
    async findPython() {
      const step = steps.shift();
      if (!step || !("lacks" in step)) return expect.fail("nobody expects a look at Python here");
      return { ...python, path: "py", missing: step.lacks };
    },
    async run(command, args) {
      const step = steps.shift();
      if (!step || !("runs" in step)) return expect.fail(`nobody expects ${command} ${args} here`);
      expect([command, ...args].join(" ")).toMatch(step.runs);
      return { ok: step.reason === "", reason: step.reason };
    },
  };
}

describe("the Python installation that the sandboxes use", () => {
  beforeEach(() => vi.stubEnv("XDG_CACHE_HOME", join(folder, "cache")));
  afterEach(() => vi.unstubAllEnvs());

  const nothing = { lacks: [] };
  const both = { lacks: ["fitz", "psycopg"] };
  const pip = (reason = "") => ({
    runs: /^py -m pip install .*--target \S+\/nova\/python3\.\d+\.[0-9a-f-]+ -- pymupdf<2 psycopg\[binary\]<4$/,
    reason,
  });
  const compiles = { runs: /^py -m compileall .*-x \/tests\?\/ \S+\/nova\/python3\S+$/, reason: "" };
  const lists = (reason = "") => ({ runs: /^apt-get update$/, reason });
  const debian = (reason = "") => ({ runs: /^apt-get install -y \S+ python3-fitz python3-psycopg$/, reason });
  const offline = "ERROR: no network";

  it.each<[string, boolean, Step[]]>([
    ["is used as it is if it has all packages", true, [nothing]],
    ["gets missing packages from pip, in a folder of this user", true, [both, pip(), compiles, nothing]],
    [
      "gets missing packages from Debian if pip cannot install them",
      true,
      [both, pip(offline), both, lists(), debian(), nothing],
    ],
    [
      "gets missing packages from Debian even if the lists of Debian packages are old",
      true,
      [both, pip(offline), both, lists(offline), debian(), nothing],
    ],
  ])("%s", async (_what, isRoot, steps) => {
    const ready = await ensurePython({ debian: true }, machineThat(steps, isRoot));
    expect([ready.missing, steps]).toEqual([[], []]);
  });

  it("is checked only for the packages that the workflow needs", async () => {
    const steps = [{ lacks: ["pandas"] }];
    await ensurePython({ needed: ["fitz"] }, machineThat(steps, true));
    expect(steps).toEqual([]);
  });

  it("keeps the packages that were installed before, and leaves no other folder", async () => {
    const cache = join(folder, "cache", "nova");
    const name = `python${python.version.split(".", 2).join(".")}`;
    await mkdir(join(cache, name, "pandas"), { recursive: true });
    const both = { runs: /-- pandas<4 psycopg\[binary\]<4$/, reason: "" };
    await ensurePython({}, machineThat([{ lacks: ["psycopg"] }, both, compiles, nothing], true));
    expect(await readdir(cache)).toEqual([name]);
    expect(await readdir(join(cache, name))).toEqual([]);
  });

  it("never gets packages from Debian without permission of the user", async () => {
    const steps = [both, pip(offline), both];
    await expect(ensurePython({}, machineThat(steps, true))).rejects.toThrow("Python lacks fitz, psycopg");
    expect(steps).toEqual([]);
  });

  it.each<[string, boolean, Step[], string]>([
    [
      "pip cannot install the missing packages, and the user is not root",
      false,
      [both, pip(offline), both],
      `pip could not install it (${offline})`,
    ],
    [
      "pip and Debian cannot install the missing packages",
      true,
      [both, pip(offline), both, lists(offline), debian(offline), both],
      `pip could not install it (${offline})`,
    ],
    [
      "the packages that pip installs cannot be imported",
      false,
      [both, pip(), compiles, both],
      "pip installed what it cannot import",
    ],
  ])("is not found if %s, and the error names the missing packages", async (_what, isRoot, steps, why) => {
    await expect(ensurePython({ debian: true }, machineThat(steps, isRoot))).rejects.toThrow(
      `Python lacks fitz, psycopg and ${why} - install pymupdf<2, psycopg[binary]<4 for py, or name another Python in NOVA_PYTHON`,
    );
    expect(steps).toEqual([]);
  });
});
