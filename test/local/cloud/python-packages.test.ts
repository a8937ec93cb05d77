import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installRequirements } from "../../../packages/local/src/cloud/python-packages.ts";
import { templateOf } from "../../../packages/local/src/cloud/templates.ts";
import { choosePython, type Python } from "../../../packages/local/src/e2b/python.ts";
import { makeWheel } from "./support/wheel.ts";

const run = promisify(execFile);

let python: Python;
let folder: string;
let wheel: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-packages-"));
  python = await choosePython(undefined, []);
  wheel = await makeWheel(python, folder);
});

afterAll(() => rm(folder, { recursive: true }));

describe("requirements", () => {
  it("are installed once into a folder that is there whole or not at all", async () => {
    const target = join(folder, "templates", "a");
    await Promise.all([installRequirements(python, [wheel], target), installRequirements(python, [wheel], target)]);
    const { stdout } = await run(python.path, ["-c", "import novatiny; print(novatiny.answer)"], {
      env: { ...process.env, PYTHONPATH: target },
    });
    expect(stdout).toBe("42\n");
    expect(await readdir(join(folder, "templates"))).toEqual(["a"]);
    await installRequirements(python, ["this is already there"], target);
  });

  it("that pip refuses are one sentence, and leave nothing behind", async () => {
    const target = join(folder, "refused");
    await expect(installRequirements(python, ["not a ! requirement"], target)).rejects.toThrow(
      /the requirements not a ! requirement cannot be installed \(.*Invalid requirement.*\) - correct them/,
    );
    expect(existsSync(target)).toBe(false);
    expect((await readdir(folder)).filter((name) => name.startsWith("refused"))).toEqual([]);
  });

  it("are one template in whatever order they are written", () => {
    expect(templateOf(["pypdf==5.0", " rich "])).toBe(templateOf(["rich", "pypdf==5.0"]));
    expect(templateOf(["rich"])).toMatch(/^nova-[0-9a-f]{12}$/);
    expect(templateOf(["rich"])).not.toBe(templateOf(["rich==13.0"]));
  });
});
