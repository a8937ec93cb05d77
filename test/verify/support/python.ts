import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Verdict } from "../../../packages/verify/src/index.ts";
import { root } from "../../support/imports.ts";

const run = promisify(execFile);
const python = process.env.NOVA_PYTHON ?? "python3";
const sources = fileURLToPath(new URL("../python", import.meta.url));
const requirements = join(sources, "requirements.txt");

let folder: Promise<string> | undefined;

/**
 * Installs the Python packages of these tests on first use, in the cache of node_modules. Returns the environment in
 * which Python finds them.
 */
export async function pythonEnvironment(): Promise<NodeJS.ProcessEnv> {
  folder ??= install();
  return { PATH: process.env.PATH, PYTHONPATH: await folder, PYTHONDONTWRITEBYTECODE: "1", PYTHONUTF8: "1" };
}

async function install(): Promise<string> {
  const { stdout } = await run(python, ["--version"]);
  const key = createHash("sha256").update(stdout).update(readFileSync(requirements)).digest("hex").slice(0, 16);
  const cache = join(root, "node_modules/.cache/nova-verify");
  const complete = join(cache, key);
  if (existsSync(complete)) return complete;
  await mkdir(cache, { recursive: true });
  // Another process may install the packages at the same time. The first complete folder is kept.
  const own = await mkdtemp(join(cache, "new-"));
  await run(python, ["-m", "pip", "install", "--quiet", "--target", own, "--requirement", requirements]);
  await rename(own, complete).catch(() => rm(own, { recursive: true, force: true }));
  return complete;
}

/** A proof file with the trusted files (paths) with which it is checked. */
export interface Job {
  file: string;
  keys?: string;
  tsaCa?: string;
}

type PythonVerdict = Omit<Verdict, "problem"> & { problem?: Omit<NonNullable<Verdict["problem"]>, "message"> };

/** Checks proof files with the verifier in Python. Returns its verdicts, in the order of the jobs. */
export async function verifyInPython(jobs: Job[]): Promise<PythonVerdict[]> {
  const child = spawn(python, [join(sources, "main.py")], {
    env: await pythonEnvironment(),
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(jobs.map((job) => `${JSON.stringify(job)}\n`).join(""));
  const lines = Buffer.concat(await Array.fromAsync(child.stdout))
    .toString()
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line) as PythonVerdict);
}
