import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeWhole } from "@nova/serve-local";
import { E2bServerError } from "./http.ts";

/**
 * A Python on this machine. `executable` is the interpreter of the installation at `basePrefix`. If the user names a
 * virtual environment, that environment only adds `siteFolders`.
 */
export type Python = {
  path: string;
  version: string;
  missing: string[];
  executable: string;
  basePrefix: string;
  siteFolders: string[];
};

type Remembered = { key: string; python: Python; folders: [path: string, mtimeMs: number][] };

/**
 * Returns the Python that a file remembers. Calls `ask` only if an interpreter or one of its package folders has
 * changed, because it takes a few tenths of a second to start and ask interpreters.
 */
export async function rememberPython(
  file: string | undefined,
  asked: string[],
  candidates: string[],
  ask: () => Promise<Python>,
): Promise<Python> {
  if (!file) return ask();
  const facts = [...asked, ...candidates.map((path) => `${path} ${modified(path)}`)];
  const key = createHash("sha256").update(JSON.stringify(facts)).digest("hex");
  const known = read(file);
  if (known?.key === key && known.folders.every(([path, mtimeMs]) => modified(path) === mtimeMs)) return known.python;
  const python = await ask();
  const folders = [python.executable, ...python.siteFolders].map((path): [string, number] => [path, modified(path)]);
  remember(file, { key, python, folders });
  return python;
}

/** Writes the choice to the file. If that fails, the next start has to choose again. */
function remember(file: string, remembered: Remembered): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeWhole(file, JSON.stringify(remembered));
  } catch {
    return;
  }
}

function modified(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function read(file: string): Remembered | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Remembered;
  } catch {
    return undefined; // The file does not exist yet, or a process died while it wrote the file.
  }
}

/** The folder of this package's Python sources. */
export const PYTHON_SOURCE = fileURLToPath(new URL("./python", import.meta.url));

/**
 * A program that an interpreter runs to describe itself. It does not import the packages, because that would take a
 * second: a package counts as usable if it is found and its compiled parts fit this version. Folders of another
 * version, such as `python3.12`, are skipped. The program also compiles our sources and the folders in `compiled`.
 * Sandboxes see these files read-only, and would otherwise have to compile them at each start.
 */
const QUESTIONS = `
import compileall, importlib.util, json, os, sys
from importlib.machinery import EXTENSION_SUFFIXES
own = "python%d.%d" % sys.version_info[:2]
for folder in reversed(sys.argv[3:]):
    name = os.path.basename(folder)
    if name == own or not name.startswith("python3."): sys.path.insert(0, folder)
def usable(name):
    try: spec = importlib.util.find_spec(name)
    except Exception: return False
    if spec is None: return False
    for place in spec.submodule_search_locations or ():
        for _, _, files in os.walk(place):
            built = [f for f in files if f.endswith(".so") and (".cpython-" in f or ".abi3." in f)]
            if built: return any(f.endswith(s) for f in built for s in EXTENSION_SUFFIXES if s != ".so")
    return True
here = os.path.realpath(os.path.dirname(os.__file__))
folders = [p for p in map(os.path.abspath, filter(None, sys.path)) if os.path.isdir(p)]
extra = [p for p in folders if os.path.realpath(p) not in (here, here + "/lib-dynload")]
print(json.dumps({"path": sys.executable, "version": "%d.%d.%d" % sys.version_info[:3],
  "missing": [n for n in sys.argv[1].split(",") if not usable(n)], "basePrefix": sys.base_prefix,
  "executable": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable), "siteFolders": extra}))
for folder in sys.argv[2].split(os.pathsep): compileall.compile_dir(folder, quiet=2)
`;

/** The requirements for the Python of sandboxes. */
export interface PythonNeeds {
  /** Modules that code in a sandbox may import without installing them. */
  modules?: readonly string[];
  /** Folders of packages that `pip install --target` has installed. */
  sitePackages?: readonly string[];
  /** Folders with Python sources that are compiled ahead. */
  compiled?: readonly string[];
  /** A file that remembers the choice, so that the next start does not have to start and ask interpreters. */
  cacheFile?: string | undefined;
  /** The environment variable in which a user names an interpreter. */
  variable?: string;
}

/**
 * Chooses the interpreter that the environment variable names. If it is not set, chooses the first on the PATH with all
 * modules, or the first one if none has all. Throws `E2bServerError` if there is no interpreter.
 */
export async function choosePython(needs: PythonNeeds): Promise<Python> {
  const { modules = [], sitePackages = [], compiled = [], cacheFile, variable = "E2B_LOCAL_PYTHON" } = needs;
  const named = process.env[variable];
  const candidates = named ? [named] : onPath(["python3", "python"]);
  const sites = sitePackages.filter((folder) => existsSync(folder));
  const sources = [PYTHON_SOURCE, ...compiled].join(delimiter);
  const args = ["-c", QUESTIONS, modules.join(), sources, ...sites];
  return rememberPython(cacheFile, args, candidates, async () => {
    const chosen = await askAll(candidates, args);
    if (chosen) return chosen;
    if (named) throw new E2bServerError(`${named} is not a Python 3.10 or newer - set ${variable} to one`);
    throw new E2bServerError(`no Python 3.10 or newer is on the PATH - install one, or name it in ${variable}`);
  });
}

/**
 * Asks all candidates at the same time, because each takes a tenth of a second. On most machines no candidate has all
 * modules, so all of them have to be asked.
 */
async function askAll(candidates: string[], args: string[]): Promise<Python | undefined> {
  const answers = await Promise.all(candidates.map((candidate) => ask(candidate, args)));
  const usable = answers.filter((python) => python !== undefined);
  return usable.find(({ missing }) => missing.length === 0) ?? usable[0];
}

/**
 * Returns the commands with these names on the PATH. Two links to one file count once if they are in the same folder.
 * In different folders both count, because one of them may belong to a virtual environment.
 */
function onPath(names: string[]): string[] {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).filter((path) => existsSync(path));
  const seen = new Set<string>();
  return found.filter((path) => {
    const file = `${realpathSync(dirname(path))} ${realpathSync(path)}`;
    return !seen.has(file) && seen.add(file);
  });
}

/** Asks a command to describe itself; undefined if it is not a Python 3.10 or newer. */
async function ask(command: string, args: string[]): Promise<Python | undefined> {
  const answer = await new Promise<string>((resolve) => {
    execFile(command, args, { timeout: 20_000 }, (error, stdout) => resolve(error ? "" : stdout));
  });
  if (!answer) return undefined;
  const python = JSON.parse(answer) as Python;
  const [major = 0, minor = 0] = python.version.split(".").map(Number);
  return major === 3 && minor >= 10 ? python : undefined;
}
