import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { choosePython, type Python, type PythonNeeds } from "@nova/e2b-local";
import { pipLine, promisedPackages } from "@nova/workflow";
import { Interrupted } from "./errors.ts";

/** Returns the user's own folder for packages, which is outside every Python installation. */
function packagesHome(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "nova");
}

/** Returns the folder of the packages that NOVA installed for this Python version (`3.12.1`). */
export function packagesFolder(version: string): string {
  return join(packagesHome(), `python${version.split(".", 2).join(".")}`);
}

/** Lists the existing package folders of all Python versions. A Python uses only the folder of its own version. */
export function packagesFolders(): string[] {
  try {
    const names = readdirSync(packagesHome()).filter((name) => /^python\d+\.\d+$/.test(name));
    return names.sort().map((name) => join(packagesHome(), name));
  } catch {
    return []; // The folder does not exist, because no package was ever installed.
  }
}

/** Modules that every sandbox has. */
export const promisedModules: readonly string[] = promisedPackages.map(({ module }) => module);

/** The environment variable in which a user names the Python of sandboxes. */
export const pythonVariable = "NOVA_PYTHON";

/** Finds the Python that sandboxes run. Throws `E2bServerError`. */
export function findPython(sitePackages: readonly string[], more: PythonNeeds = {}): Promise<Python> {
  return choosePython({ modules: promisedModules, sitePackages, variable: pythonVariable, ...more });
}

/** Thrown if Python packages of sandboxes are missing. The message says what to install. */
export class PythonMissing extends Error {
  override name = "PythonMissing";
}

interface Ended {
  ok: boolean;
  /** The last line that the command printed. After a failure, this line explains the failure. */
  reason: string;
}

/** Operations on the machine that an installation needs; tests replace them. */
export interface Machine {
  findPython(sitePackages: readonly string[]): Promise<Python>;
  run(command: string, args: string[], cwd?: string): Promise<Ended>;
  /** Whether this process may install packages of Debian. */
  readonly takesDebianPackages: boolean;
}

const thisMachine: Machine = {
  findPython,
  run,
  get takesDebianPackages() {
    return process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
  },
};

interface EnsureOptions {
  /** The import names of the needed modules; absent: all modules that sandboxes promise. */
  needed?: readonly string[];
  debian?: boolean;
}

/**
 * Finds a Python that has the modules in `needed`. If there is none, it installs the modules with pip into the user's
 * own folder; with `debian`, it may also install packages of Debian. Throws `PythonMissing` and `Interrupted`.
 */
export async function ensurePython(
  { needed = promisedModules, debian = false }: EnsureOptions = {},
  machine: Machine = thisMachine,
): Promise<Python> {
  const python = await machine.findPython(packagesFolders());
  const missing = missingOf(python, needed);
  if (missing.length === 0) return python;
  const wanted = promisedPackages.filter(({ module }) => missing.includes(module));
  const pip = await installPromised(python, missing, machine);
  const installed = await machine.findPython(packagesFolders());
  if (missingOf(installed, needed).length === 0) return installed;
  if (debian && machine.takesDebianPackages) {
    await machine.run("apt-get", ["update"]);
    await machine.run("apt-get", ["install", "-y", "--no-install-recommends", ...wanted.map((one) => one.debian)]);
    const again = await machine.findPython(packagesFolders());
    if (missingOf(again, needed).length === 0) return again;
  }
  const advice = `install ${wanted.map(pipLine).join(", ")} for ${python.path}, or name another Python in NOVA_PYTHON`;
  const outcome = pip.ok ? "pip installed what it cannot import" : `pip could not install it (${pip.reason})`;
  throw new PythonMissing(`Python lacks ${missing.join(", ")} and ${outcome} - ${advice}`);
}

/**
 * Installs packages into a new folder. The complete new folder then replaces the old folder. If the installation is
 * interrupted, the old folder stays unchanged.
 */
async function installPromised(python: Python, missing: readonly string[], machine: Machine): Promise<Ended> {
  const folder = packagesFolder(python.version);
  const lines = promisedPackages.flatMap((one) =>
    missing.includes(one.module) || existsSync(join(folder, one.module)) ? [pipLine(one)] : [],
  );
  const draft = `${folder}.${randomUUID()}`;
  try {
    await mkdir(dirname(folder), { recursive: true });
  } catch (error) {
    return { ok: false, reason: (error as Error).message };
  }
  try {
    const ended = await pipInstall(python, lines, draft, machine);
    if (ended.ok) {
      await rename(folder, `${draft}.old`).catch(() => undefined);
      await rename(draft, folder);
    }
    return ended;
  } finally {
    for (const left of [draft, `${draft}.old`]) await rm(left, { recursive: true, force: true });
  }
}

/** Installs requirements into a folder that exists completely or not at all. Throws `PythonMissing`, `Interrupted`. */
export async function installRequirements(
  python: Python,
  requirements: readonly string[],
  folder: string,
  machine: Machine = thisMachine,
): Promise<void> {
  if (existsSync(folder)) return;
  const draft = `${folder}.${randomUUID()}`;
  try {
    const { ok, reason } = await pipInstall(python, requirements, draft, machine);
    if (!ok) {
      const what = `the requirements ${requirements.join(", ")} cannot be installed`;
      throw new PythonMissing(`${what} (${reason}) - correct them, or see that ${python.path} -m pip works`);
    }
    // If the rename fails, another process has installed the same requirements first, and its folder is just as good.
    await rename(draft, folder).catch(() => undefined);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

function missingOf(python: Python, needed: readonly string[]): string[] {
  return python.missing.filter((name) => needed.includes(name));
}

/**
 * Installs requirements with pip. Each requirement is an argument after `--`, so pip cannot read it as an option or a
 * variable, as it could in a requirements file. pip runs in an empty folder, so no requirement can name an archive
 * there.
 */
async function pipInstall(python: Python, lines: readonly string[], folder: string, machine: Machine) {
  await mkdir(folder, { recursive: true });
  const quietly = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-compile"];
  const install = ["-m", "pip", "install", ...quietly, "--target", folder, "--", ...lines];
  const result = await machine.run(python.path, install, folder);
  // The packages are compiled now, because sandboxes cannot write here. pip itself would also compile the tests of
  // packages, which are half of all files.
  if (result.ok) await machine.run(python.path, ["-m", "compileall", "-q", "-x", "/tests?/", folder]);
  return result;
}

const endings = ["SIGINT", "SIGTERM"] as const;

async function run(command: string, args: string[], cwd?: string): Promise<Ended> {
  const interrupt = new AbortController();
  const stop = () => interrupt.abort();
  const limits = { timeout: 600_000, maxBuffer: 16 * 1024 * 1024, signal: interrupt.signal };
  const options = { ...limits, ...(cwd !== undefined && { cwd }) };
  for (const signal of endings) process.on(signal, stop);
  try {
    await promisify(execFile)(command, args, options);
    return { ok: true, reason: "" };
  } catch (error) {
    if (interrupt.signal.aborted) throw new Interrupted("interrupted: nothing was installed");
    const { message, stderr = "" } = error as Error & { stderr?: string };
    const reason = stderr.split("\n").findLast((line) => /^E|rror/.test(line)) ?? message;
    return { ok: false, reason: reason.trim() };
  } finally {
    for (const signal of endings) process.off(signal, stop);
  }
}
