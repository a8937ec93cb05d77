import { fork } from "node:child_process";
import { constants, type Dirent, existsSync } from "node:fs";
import { type FileHandle, open, readdir, readFile, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { didYouMean, type Finding, finding } from "../findings/finding.ts";
import { parsedOrNot } from "../json/text.ts";
import { generatedFolder, lockFileName } from "../lock/lock-file.ts";
import { pathInFolder, readableFile } from "../parse/files.ts";
import type { WorkflowSource } from "../parse/read.ts";
import type { Built } from "./build.ts";

/** Thrown if a path has no definition that can be parsed. `nova validate` prints its `finding`. */
export class WorkflowSourceError extends Error {
  override name = "WorkflowSourceError";
  readonly finding: Finding;
  constructor(message: string, { place, ...options }: ErrorOptions & { place?: Pick<Finding, "file" | "line"> } = {}) {
    super(message, options);
    this.finding = finding("NOVA101", "$", message, place);
  }
}

/** The definition files of a folder, in order of precedence. */
const filesOfFolder = ["workflow.json", "workflow.ts"] as const;

export function isFileOfFolder(path: string): boolean {
  return filesOfFolder.some((name) => name === basename(path));
}

export function isWorkflowFolder(folder: string): boolean {
  return filesOfFolder.some((name) => existsSync(join(folder, name)));
}

/** The largest file that is read. A larger one is a mistake, because no code or prompt is that long. */
const maxFileBytes = 16 * 1024 * 1024;

/**
 * Reads a workflow from the disk: a folder with `workflow.json` or `workflow.ts`, or one file of JSON, TypeScript or
 * JavaScript. It runs a program to get its JSON. From a folder it takes the Python and text files beside the
 * definition, `lib/` and the locked code; from a single file only the files that the definition names. `path` may be a
 * link, but no link in the folder may lead out of it.
 * @throws WorkflowSourceError
 */
export async function readWorkflowSource(path: string): Promise<WorkflowSource> {
  const full = resolve(path);
  const found = await stat(full).catch((cause) => {
    const wayOut = `name a folder with ${filesOfFolder.join(" or ")}, or such a file`;
    throw new WorkflowSourceError(`there is no file or folder "${path}" - ${wayOut}`, { cause });
  });
  const isFolder = found.isDirectory();
  const name = filesOfFolder.find((one) => existsSync(join(full, one))) ?? filesOfFolder[0];
  const file = isFolder ? join(full, name) : full;
  const folder = dirname(file);
  const whole = isFileOfFolder(file);
  try {
    const written = await textOf(file, path, isFolder);
    const isProgram = programFile.test(file);
    const text = isProgram ? await textMadeBy(file) : written;
    const files = await readAll(folder, namedFiles(text), whole ? await filesOf(folder) : noFiles);
    const modelsOff = process.env.NOVA_MODELS === "off" && ({ modelsOff: true } as const);
    return {
      text,
      fileName: basename(file),
      ...(isProgram && { program: written }),
      folder: basename(whole ? folder : file, extname(file)),
      files,
      ...modelsOff,
    };
  } catch (cause) {
    if (!(cause instanceof OutsideFolder)) throw cause;
    throw new WorkflowSourceError(`the folder "${path}": ${cause.message}`, { cause });
  }
}

async function textMadeBy(file: string): Promise<string> {
  const made = await buildProgram(file);
  if ("text" in made) return made.text;
  const { problem, line, column } = made;
  const place = { file: basename(file), ...(line !== undefined && { line, column }) };
  throw new WorkflowSourceError(`${basename(file)} makes no workflow: ${problem} - correct it`, { place });
}

async function textOf(file: string, path: string, isFolder: boolean): Promise<string> {
  const bytes = await (isFolder ? definitionIn(file, path) : bytesOf(file, path));
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch (cause) {
    throw new WorkflowSourceError(`"${path}" is not UTF-8 text - name a JSON file`, { cause });
  }
}

async function definitionIn(file: string, path: string): Promise<Buffer> {
  const [folder, wanted] = [dirname(file), basename(file)];
  const bytes = await bytesIn(folder, wanted);
  if (bytes) return bytes;
  const others = (await namesIn(folder)).filter((name) => /\.(json|ts)$/.test(name));
  const wayOut = didYouMean(wanted, others) || " - add it, or name a JSON file";
  throw new WorkflowSourceError(`the folder "${path}" has no ${wanted}${wayOut}`);
}

async function bytesOf(file: string, path: string): Promise<Buffer> {
  return readFile(file).catch((cause) => {
    throw new WorkflowSourceError(`"${path}" cannot be read - name a readable JSON file`, { cause });
  });
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

interface Files {
  needed: string[];
  beside: string[];
}

const noFiles: Files = { needed: [], beside: [] };

async function filesOf(folder: string): Promise<Files> {
  const below = await Promise.all(["lib", generatedFolder].map((name) => filesBelow(folder, name)));
  return {
    needed: [lockFileName, ...below.flat()],
    beside: (await namesIn(folder)).filter((name) => readableFile.test(name)),
  };
}

async function filesBelow(folder: string, below: string): Promise<string[]> {
  await demandLeadsInside(folder, below);
  const entries = await readdir(join(folder, below), { recursive: true, withFileTypes: true }).catch(() => []);
  const isPython = (entry: Dirent) => (entry.isFile() || entry.isSymbolicLink()) && entry.name.endsWith(".py");
  const files = entries.filter(isPython);
  return files.map((entry) =>
    join(entry.parentPath, entry.name)
      .slice(folder.length + 1)
      .replaceAll("\\", "/"),
  );
}

/**
 * Returns the files that `codeFile` and `promptFile` name anywhere in the text. The parser reports the forbidden files
 * among them.
 */
function namedFiles(text: string): string[] {
  const quoted = text.matchAll(/"(?:code|prompt)File"\s*:\s*("(?:[^"\\]|\\.)*")/g);
  const names = Array.from(quoted, ([, name = ""]) => String(parsedOrNot(name) ?? ""));
  return names.flatMap((name) => pathInFolder(name) ?? []).filter((name) => readableFile.test(name));
}

/** Reads all files. An unreadable file is an error if the definition needs it, and is left out otherwise. */
async function readAll(folder: string, named: readonly string[], { needed, beside }: Files) {
  const wanted = new Set([...named, ...needed]);
  const read = async (path: string): Promise<[string, string][]> => {
    const bytes = await bytesIn(folder, path).catch((error) => {
      if (wanted.has(path)) throw error;
    });
    return bytes ? [[path, bytes.toString("utf8")]] : [];
  };
  const paths = [...new Set([...wanted, ...beside])].sort();
  return Object.fromEntries((await Promise.all(paths.map(read))).flat());
}

/**
 * Reads a file in the folder; undefined if it is missing or unreadable. Throws `OutsideFolder`, or
 * `WorkflowSourceError` for a file that is too large.
 */
async function bytesIn(folder: string, path: string): Promise<Buffer | undefined> {
  await using file = await openInside(folder, path);
  if (!file) return undefined;
  const { size } = await file.stat();
  if (size <= maxFileBytes) return file.readFile();
  const bound = `has ${size} bytes, and at most ${maxFileBytes} (16 MB) are read`;
  throw new WorkflowSourceError(`"${join(folder, path)}" ${bound} - move what is large out of the code`);
}

const programFile = /\.[cm]?[jt]s$/;

const maxSeconds = 60;

/**
 * Runs a program in a separate process, which can be stopped and in which no older version of the program is cached.
 */
export async function buildProgram(file: string): Promise<Built> {
  const child = fork(fileURLToPath(new URL("./build.ts", import.meta.url)), [file], {
    // Standard output and standard error of the program go to our standard error, because our standard output is for
    // the result of the command.
    stdio: ["ignore", 2, 2, "ipc"],
    execArgv: ["--no-warnings"],
  });
  const answer = Promise.withResolvers<Built>();
  const timer = setTimeout(() => {
    answer.resolve({ problem: `it has not ended in ${maxSeconds} seconds` });
    child.kill("SIGKILL");
  }, maxSeconds * 1000);
  child.on("message", (message) => answer.resolve(message as Built));
  child.on("error", ({ message }) => answer.resolve({ problem: `it cannot be run: ${message}` }));
  child.on("exit", () => answer.resolve({ problem: "it ended before it had exported anything" }));
  return answer.promise.finally(() => clearTimeout(timer));
}

/**
 * Thrown for a link that leads out of the folder. NOVA does not follow such a link, because it could publish any file
 * of this machine.
 */
export class OutsideFolder extends Error {
  override name = "OutsideFolder";
}

/**
 * Flags to open a file without waiting for the writer of a FIFO. An opened terminal does not become the controlling
 * terminal.
 */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Opens a file that is inside `folder` after all links are followed; undefined if there is none. The caller closes it.
 * Throws `OutsideFolder`.
 */
export async function openInside(folder: string, path: string): Promise<FileHandle | undefined> {
  const full = join(folder, path);
  const found = await stat(full).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  const handle = await open(full, flags).catch(() => undefined);
  if (!handle) return undefined;
  try {
    // The opened file is checked, not the path, because the path may lead to another file by now.
    const isFile = (await handle.stat()).isFile();
    demandInside(await realpath(folder), await placeOf(handle, full), path);
    if (isFile) return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

/** Throws `OutsideFolder` if a path leads out of `folder`. Accepts a missing file. */
export async function demandLeadsInside(folder: string, path: string): Promise<void> {
  const real = await realpath(join(folder, path)).catch(() => undefined);
  if (real !== undefined) demandInside(await realpath(folder), real, path);
}

/**
 * Returns the real path of an open file. Linux reports this path. On other systems, the function follows `path` again,
 * and returns undefined if `path` leads to another file.
 */
async function placeOf(handle: FileHandle, path: string): Promise<string | undefined> {
  const known = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
  if (known !== undefined) return known;
  const real = await realpath(path);
  const [opened, there] = await Promise.all([handle.stat({ bigint: true }), stat(real, { bigint: true })]);
  return opened.ino === there.ino && opened.dev === there.dev ? real : undefined;
}

function demandInside(root: string, place: string | undefined, path: string): void {
  const folder = root.endsWith(sep) ? root : root + sep;
  if (place === root || place?.startsWith(folder)) return;
  throw new OutsideFolder(`"${path}" is a link that leads out of the folder - put the file itself there`);
}
