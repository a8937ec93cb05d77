import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { choosePython, type Python } from "../e2b/python.ts";

/** What the sandbox template promises, as pip and as Debian name it; the key is what code imports. */
const packages: Record<string, { pip: string; debian: string }> = {
  fitz: { pip: "PyMuPDF", debian: "python3-fitz" },
  pandas: { pip: "pandas", debian: "python3-pandas" },
  requests: { pip: "requests", debian: "python3-requests" },
  PIL: { pip: "Pillow", debian: "python3-pil" },
  psycopg: { pip: "psycopg[binary]", debian: "python3-psycopg" },
};

/** The Python packages of the sandboxes cannot be had; the message says what to install. */
export class PythonMissing extends Error {
  override name = "PythonMissing";
}

interface Ended {
  ok: boolean;
  /** The last line that says what went wrong. */
  reason: string;
}

/** What installing needs of the machine; tests play it. */
export interface Machine {
  choosePython(sitePackages: string[]): Promise<Python>;
  run(command: string, args: string[], cwd?: string): Promise<Ended>;
  /** Whether Debian's packages may be installed. */
  readonly takesDebianPackages: boolean;
}

const thisMachine: Machine = {
  choosePython: (sitePackages) => choosePython(undefined, sitePackages),
  run,
  get takesDebianPackages() {
    return process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
  },
};

/** Where this data folder keeps the packages that it had to install itself. */
export function sitePackages(dataDir: string): string {
  return join(dataDir, "python");
}

/**
 * Sees to it that a Python with the packages `needed` (import names) is there, in this order: importable already; pip
 * into the data folder; Debian's packages where we may install them. Throws `PythonMissing`.
 */
export async function ensurePython(
  dataDir: string,
  needed: readonly string[] = Object.keys(packages),
  machine: Machine = thisMachine,
): Promise<Python> {
  const site = sitePackages(dataDir);
  const python = await machine.choosePython([site]);
  const missing = lacking(python, needed);
  if (missing.length === 0) return python;
  const wanted = missing.map((name) => packages[name] ?? { pip: name, debian: `python3-${name.toLowerCase()}` });
  const pip = await pipInstall(
    python,
    wanted.map((one) => one.pip),
    site,
    machine,
  );
  const installed = await machine.choosePython([site]);
  if (lacking(installed, needed).length === 0) return installed;
  if (machine.takesDebianPackages) {
    await machine.run("apt-get", ["update"]);
    await machine.run("apt-get", ["install", "-y", "--no-install-recommends", ...wanted.map((one) => one.debian)]);
    const again = await machine.choosePython([site]);
    if (lacking(again, needed).length === 0) return again;
  }
  const advice = `install ${wanted.map((one) => one.pip).join(", ")} for ${python.path}, or name another Python in NOVA_PYTHON`;
  const outcome = pip.ok ? "pip installed what it cannot import" : `pip could not install it (${pip.reason})`;
  throw new PythonMissing(`Python lacks ${missing.join(", ")} and ${outcome} - ${advice}`);
}

/** Installs requirement lines into a folder that is there whole or not at all. */
export async function installRequirements(
  python: Python,
  requirements: readonly string[],
  folder: string,
  machine: Machine = thisMachine,
): Promise<void> {
  if (existsSync(folder)) return;
  const draft = `${folder}.${randomUUID()}`;
  const { ok, reason } = await pipInstall(python, requirements, draft, machine);
  if (!ok) {
    await rm(draft, { recursive: true, force: true });
    const what = `the requirements ${requirements.join(", ")} cannot be installed`;
    throw new PythonMissing(`${what} (${reason}) - correct them, or see that ${python.path} -m pip works`);
  }
  // Another process may have been faster; what it installed is as good.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }));
}

function lacking(python: Python, needed: readonly string[]): string[] {
  return python.missing.filter((name) => needed.includes(name));
}

/**
 * The lines are arguments behind `--`, so that none is an option to pip, a line that goes on or a variable, as it could be
 * in a file; and pip is in a folder where no name is that of an archive.
 */
async function pipInstall(python: Python, lines: readonly string[], folder: string, machine: Machine) {
  await mkdir(folder, { recursive: true });
  const quietly = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-compile"];
  const install = ["-m", "pip", "install", ...quietly, "--target", folder, "--", ...lines];
  const result = await machine.run(python.path, install, folder);
  // As pip would, which compiles the packages' own tests as well: half of all that there is. Sandboxes may not write here.
  if (result.ok) await machine.run(python.path, ["-m", "compileall", "-q", "-x", "/tests?/", folder]);
  return result;
}

async function run(command: string, args: string[], cwd?: string): Promise<Ended> {
  const options = { timeout: 600_000, maxBuffer: 16 * 1024 * 1024, ...(cwd !== undefined && { cwd }) };
  try {
    await promisify(execFile)(command, args, options);
    return { ok: true, reason: "" };
  } catch (error) {
    const { message, stderr = "" } = error as Error & { stderr?: string };
    const reason = stderr.split("\n").findLast((line) => /^E|rror/.test(line)) ?? message;
    return { ok: false, reason: reason.trim() };
  }
}
