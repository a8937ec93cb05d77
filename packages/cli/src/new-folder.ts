import { access, constants, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { InvalidInput, refusing } from "./errors.ts";

/**
 * Does something in a folder that is new or empty, and makes it. Where that fails the folder is as it was, so that the
 * same command can be typed again. Throws `InvalidInput` where there can be no such folder.
 */
export async function inNewFolder<T>(
  folder: string,
  { wayOut, mode }: { wayOut: string; mode?: number },
  work: () => Promise<T>,
): Promise<T> {
  const made = await makeEmpty(folder, wayOut, mode);
  try {
    return await work();
  } catch (error) {
    const left = made === undefined ? (await readdir(folder)).map((name) => join(folder, name)) : [made];
    await Promise.all(left.map((path) => rm(path, { recursive: true, force: true })));
    throw error;
  }
}

/** Answers the first folder on the way that was not there. */
async function makeEmpty(folder: string, wayOut: string, mode?: number): Promise<string | undefined> {
  const sentence = ({ code }: NodeJS.ErrnoException) => `"${folder}" cannot be made a folder (${code}) - ${wayOut}`;
  const [made, names] = await writable(folder, mode).catch(refusing(sentence));
  if (names.length > 0) throw new InvalidInput(`"${folder}" is not empty - ${wayOut}`);
  return made;
}

async function writable(folder: string, mode?: number): Promise<[string | undefined, string[]]> {
  const made = await mkdir(folder, { recursive: true, mode });
  await access(folder, constants.W_OK);
  return [made, await readdir(folder)];
}
