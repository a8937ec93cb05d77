import { existsSync } from "node:fs";
import { access, constants, mkdir, open, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { demandLeadsInside, OutsideFolder } from "@nova/workflow";
import { InvalidInput, throwInvalid } from "./errors.ts";

/**
 * Creates a folder and calls `work`, which fills it. If `work` fails, the folder is removed or emptied again, so the
 * command can be repeated. Throws `InvalidInput` if the folder is not empty or cannot be created.
 */
export async function inNewFolder<T>(
  folder: string,
  { wayOut, mode }: { wayOut: string; mode?: number },
  work: () => Promise<T>,
): Promise<T> {
  const impossible = throwInvalid(({ code }) => `"${folder}" cannot be made a folder (${code}) - ${wayOut}`);
  // `made` is the outermost folder that `mkdir` created, or undefined if `folder` already existed.
  const made = await mkdir(folder, { recursive: true, mode }).catch(impossible);
  await access(folder, constants.W_OK).catch(impossible);
  if ((await readdir(folder).catch(impossible)).length > 0)
    throw new InvalidInput(`"${folder}" is not empty - ${wayOut}`);
  try {
    return await work();
  } catch (error) {
    const left = made === undefined ? (await readdir(folder)).map((name) => join(folder, name)) : [made];
    await Promise.all(left.map((path) => rm(path, { recursive: true, force: true })));
    throw error;
  }
}

/**
 * Writes a file for `--into`, and replaces an existing file only with `force`. Removes the file if writing the content fails.
 * Throws `InvalidInput`.
 */
export async function writeNewFile(
  path: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
  { force = false }: { force: boolean | undefined },
): Promise<void> {
  const sentence = ({ code }: NodeJS.ErrnoException) =>
    code === "EEXIST"
      ? `"${path}" exists - name another file, or add --force`
      : `"${path}" cannot be written (${code}) - name another file`;
  await using file = await open(path, force ? "w" : "wx").catch(throwInvalid(sentence));
  try {
    await file.writeFile(content);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_TRUNC, O_WRONLY } = constants;

/**
 * Writes a file inside `folder`, and follows no link that leads out of `folder`. Without `replaces`, the file must not
 * exist yet. Throws `InvalidInput`.
 */
export async function writeInside(
  folder: string,
  path: string,
  content: string | Uint8Array,
  { replaces }: { replaces: boolean },
): Promise<void> {
  const file = join(folder, path);
  const flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | (replaces ? O_TRUNC : O_EXCL);
  try {
    await mkdir(dirname(file), { recursive: true });
    await demandLeadsInside(folder, dirname(path));
    await using opened = await open(file, flags);
    await opened.writeFile(content);
  } catch (cause) {
    const { code = "", message } = cause as NodeJS.ErrnoException;
    if (cause instanceof OutsideFolder) throw new InvalidInput(`"${folder}": ${message}`, { cause });
    const why = reasons[code];
    if (why === undefined) throw cause;
    throw new InvalidInput(`"${file}" ${why} - it was not written`, { cause });
  }
}

const reasons: Record<string, string> = {
  ELOOP: "is a link",
  ENXIO: "is not a file",
  EISDIR: "is a folder",
  ENOTDIR: "lies below a file",
  EEXIST: "exists already",
};

/** Returns the path, or the nearest folder above it that exists. */
export function nearestPath(path: string): string {
  return existsSync(path) ? path : nearestPath(dirname(path));
}
