import { dirname, isAbsolute, join, normalize } from "node:path";
import { type ExactValue, type FileInPlace, isRawNumber, newFileMark, parseExact } from "@nova/engine";
import { demandLeadsInside } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";
import { readFileAt } from "./files.ts";

/**
 * Reads the files that a context file names by `{"$file": "path"}`, from its own folder: `nova pull` writes such ones for
 * bytes. A key `$$file` stands for one that is called `$file`. Throws `InvalidInput`.
 */
export async function placeContextFiles(
  context: string,
  contextFile: string,
): Promise<{ context: string; files: FileInPlace[] }> {
  if (!context.includes('$file"')) return { context, files: [] };
  const named: { mark: string; path: string }[] = [];
  const visit = (value: ExactValue): ExactValue => {
    if (value === null || typeof value !== "object" || isRawNumber(value)) return value;
    if (Array.isArray(value)) return value.map(visit);
    const path = fileIn(value);
    if (path === undefined)
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [plain(key), visit(one)]));
    const mark = newFileMark();
    named.push({ mark, path });
    return mark;
  };
  const placed = JSON.stringify(visit(parseExact(context)));
  const read = ({ mark, path }: (typeof named)[number]) => readPlaced(mark, path, contextFile);
  return { context: placed, files: await Promise.all(named.map(read)) };
}

function fileIn(value: { [key: string]: ExactValue }): string | undefined {
  const [[key, path] = [], second] = Object.entries(value);
  return second === undefined && key === "$file" && typeof path === "string" ? path : undefined;
}

function plain(key: string): string {
  return /^\$\$+file$/.test(key) ? key.slice(1) : key;
}

/** Only what lies beside: a context from elsewhere must not take in any file of this machine, by no link either. */
async function readPlaced(mark: string, path: string, contextFile: string): Promise<FileInPlace> {
  const wayOut = "name one in its own folder";
  if (isAbsolute(path) || normalize(path).startsWith("..")) {
    throw new InvalidInput(`"${contextFile}" names the file "${path}" - ${wayOut}`);
  }
  const folder = dirname(contextFile);
  await demandLeadsInside(folder, path).catch((cause: Error) => {
    throw new InvalidInput(`"${contextFile}": ${cause.message}, or ${wayOut}`, { cause });
  });
  const { sha256, bytes, open } = await readFileAt(join(folder, path), `${contextFile}: "$file"`);
  return { mark, sha256, bytes, open };
}
