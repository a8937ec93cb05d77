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
  const impossible = refusing(({ code }) => `"${folder}" cannot be made a folder (${code}) - ${wayOut}`);
  // The first folder on the way that was not there.
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
