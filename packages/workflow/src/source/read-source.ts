import type { Dirent } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { type Finding, finding } from "../findings/finding.ts";
import { didYouMean } from "../findings/suggest.ts";
import { generatedFolder, lockFileName } from "../lock/lock-file.ts";
import { pathInFolder, readableFile } from "../parse/files.ts";
import type { WorkflowSource } from "../parse/source.ts";

/** There is nothing at the path that could be parsed; `finding` says so as `nova validate` does. */
export class WorkflowSourceError extends Error {
  override name = "WorkflowSourceError";
  readonly finding: Finding;
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.finding = finding("NOVA101", "$", message);
  }
}

const fileOfFolder = "workflow.json";

/**
 * A workflow from the disk: a folder with `workflow.json`, or one JSON file. Of a folder it takes the Python and text
 * files beside the JSON, `lib/`, and what is locked; of a lone file only those that it names.
 * @throws WorkflowSourceError
 */
export async function readWorkflowSource(path: string): Promise<WorkflowSource> {
  const full = resolve(path);
  const isFolder = (await statOf(full, path)).isDirectory();
  const file = isFolder ? join(full, fileOfFolder) : full;
  const folder = dirname(file);
  const text = await textOf(file, path, isFolder);
  const whole = basename(file) === fileOfFolder;
  const paths = whole ? await filesOf(folder) : [];
  const files = await readAll(folder, [...new Set([...paths, ...namedFiles(text)])].sort());
  return { text, fileName: basename(file), folder: basename(whole ? folder : file, extname(file)), files };
}

async function statOf(full: string, path: string) {
  try {
    return await stat(full);
  } catch (cause) {
    throw new WorkflowSourceError(
      `there is no file or folder "${path}" - name a folder with ${fileOfFolder}, or a JSON file`,
      { cause },
    );
  }
}

async function textOf(file: string, path: string, isFolder: boolean): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(await readFile(file));
  } catch (cause) {
    if (cause instanceof TypeError)
      throw new WorkflowSourceError(`"${path}" is not UTF-8 text - name a JSON file`, { cause });
    if (!isFolder) throw new WorkflowSourceError(`"${path}" cannot be read - name a readable JSON file`, { cause });
    const others = (await namesIn(dirname(file))).filter((name) => name.endsWith(".json"));
    const wayOut = didYouMean(fileOfFolder, others) || " - add it, or name a JSON file";
    throw new WorkflowSourceError(`the folder "${path}" has no ${fileOfFolder}${wayOut}`, { cause });
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

async function filesOf(folder: string): Promise<string[]> {
  const below = await Promise.all(["lib", generatedFolder].map((name) => filesBelow(folder, name)));
  return [...(await filesBeside(folder)), ...below.flat()];
}

async function filesBeside(folder: string): Promise<string[]> {
  return (await namesIn(folder)).filter((name) => readableFile.test(name) || name === lockFileName);
}

async function filesBelow(folder: string, below: string): Promise<string[]> {
  const entries = await readdir(join(folder, below), { recursive: true, withFileTypes: true }).catch(() => []);
  const isPython = (entry: Dirent) => (entry.isFile() || entry.isSymbolicLink()) && entry.name.endsWith(".py");
  const files = entries.filter(isPython);
  return files.map((entry) =>
    join(entry.parentPath, entry.name)
      .slice(folder.length + 1)
      .replaceAll("\\", "/"),
  );
}

/** What `codeFile` and `promptFile` name, wherever they stand; whether they may is for the parser to say. */
function namedFiles(text: string): string[] {
  const names = [...text.matchAll(/"(?:code|prompt)File"\s*:\s*("(?:[^"\\]|\\.)*")/g)].map(([, quoted]) =>
    unquoted(quoted ?? ""),
  );
  return names.flatMap((name) => pathInFolder(name) ?? []).filter((name) => readableFile.test(name));
}

function unquoted(text: string): string {
  try {
    return JSON.parse(text);
  } catch {
    return "";
  }
}

async function readAll(folder: string, paths: readonly string[]): Promise<Record<string, string>> {
  const read = async (path: string) => {
    const text = await readFile(join(folder, path), "utf8").catch(() => undefined);
    return text === undefined ? [] : [[path, text] as const];
  };
  return Object.fromEntries((await Promise.all(paths.map(read))).flat());
}
