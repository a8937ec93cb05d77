import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeWhole } from "@nova/serve-local";
import { E2bServerError } from "./http.ts";

/** `executable` belongs to the base installation under `basePrefix`; a virtual environment only adds `siteFolders`. */
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
 * Asking interpreters takes a few tenths of a second. The answer is kept until an interpreter or one of its package
 * folders changes.
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

/** Without write access, the next start asks again. */
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
    return undefined; // there is no file yet, or it was cut off while being written
  }
}

/** The Python sources of this package. */
export const PYTHON_SOURCE = fileURLToPath(new URL("./python", import.meta.url));

/**
 * Asks an interpreter about itself. It does not import packages, which would take a second: a package counts as usable
 * if it is found and its compiled parts fit this version. It also compiles our sources (and `compiled`), which
 * sandboxes see read-only and would have to compile at each start. A folder named after another version, such as
 * `python3.12`, is skipped.
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

/** The Python that sandboxes need. */
export interface PythonNeeds {
  /** Modules that code may import without installing anything. */
  modules?: readonly string[];
  /** Folders that `pip install --target` filled. */
  sitePackages?: readonly string[];
  /** Folders of sources to compile. */
  compiled?: readonly string[];
  /** Keeps the choice, so that the next start asks no interpreter. */
  cacheFile?: string | undefined;
  /** The environment variable in which a user names an interpreter. */
  variable?: string;
}

/**
 * Chooses the interpreter that `variable` names; otherwise the first on the PATH that has all modules; otherwise the
 * first of all. Throws `E2bServerError` if there is none.
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

/** Asks all candidates at once: on most machines none has all modules, and each question takes a tenth of a second. */
async function askAll(candidates: string[], args: string[]): Promise<Python | undefined> {
  const answers = await Promise.all(candidates.map((candidate) => ask(candidate, args)));
  const usable = answers.filter((python) => python !== undefined);
  return usable.find(({ missing }) => missing.length === 0) ?? usable[0];
}

/** Skips the same file in the same folder. In another folder it may be a virtual environment. */
function onPath(names: string[]): string[] {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).filter((path) => existsSync(path));
  const seen = new Set<string>();
  return found.filter((path) => {
    const file = `${realpathSync(dirname(path))} ${realpathSync(path)}`;
    return !seen.has(file) && seen.add(file);
  });
}

/** Undefined for a command that is not a Python 3.10 or newer. */
async function ask(command: string, args: string[]): Promise<Python | undefined> {
  const answer = await new Promise<string>((resolve) => {
    execFile(command, args, { timeout: 20_000 }, (error, stdout) => resolve(error ? "" : stdout));
  });
  if (!answer) return undefined;
  const python = JSON.parse(answer) as Python;
  const [major = 0, minor = 0] = python.version.split(".").map(Number);
  return major === 3 && minor >= 10 ? python : undefined;
}
