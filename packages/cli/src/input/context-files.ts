import { dirname, isAbsolute, join, normalize } from "node:path";
import { type ExactValue, type FileInPlace, newFileMark } from "@nova/engine";
import { demandLeadsInside } from "@nova/workflow";
import { InvalidInput, throwInvalid } from "../errors.ts";
import { type ExactObject, mapMembers, mapObjects } from "./exact.ts";
import { readFileAt } from "./files.ts";

/**
 * Reads the files that a context file names by `{"$file": "path"}`, relative to its own folder; `nova pull` writes such
 * references for bytes. A key `$$file` stands for a key named `$file`. Throws `InvalidInput`.
 */
export async function placeContextFiles(
  context: string,
  contextFile: string,
): Promise<{ context: string; files: FileInPlace[] }> {
  if (!context.includes('$file"')) return { context, files: [] };
  const named: { mark: string; path: string }[] = [];
  const visit = async (value: ExactObject): Promise<ExactValue> => {
    const path = fileIn(value);
    const plain = (key: string) => (/^\$\$+file$/.test(key) ? key.slice(1) : key);
    if (path === undefined) return mapMembers(value, visit, plain);
    const mark = newFileMark();
    named.push({ mark, path });
    return mark;
  };
  const placed = await mapObjects(context, visit);
  const read = ({ mark, path }: (typeof named)[number]) => readPlaced(mark, path, contextFile);
  return { context: placed, files: await Promise.all(named.map(read)) };
}

function fileIn(value: ExactObject): string | undefined {
  const [[key, path] = [], second] = Object.entries(value);
  return second === undefined && key === "$file" && typeof path === "string" ? path : undefined;
}

/**
 * Accepts only files below the context file's folder, also after following links, because a context from another source
 * must not read other files of this machine.
 */
async function readPlaced(mark: string, path: string, contextFile: string): Promise<FileInPlace> {
  const wayOut = "name one in its own folder";
  if (isAbsolute(path) || normalize(path).startsWith("..")) {
    throw new InvalidInput(`"${contextFile}" names the file "${path}" - ${wayOut}`);
  }
  const folder = dirname(contextFile);
  await demandLeadsInside(folder, path).catch(
    throwInvalid((cause) => `"${contextFile}": ${cause.message}, or ${wayOut}`),
  );
  return { mark, ...(await readFileAt(join(folder, path), `${contextFile}: "$file"`)) };
}
