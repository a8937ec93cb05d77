import { access, constants, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { InvalidInput, throwInvalid } from "./errors.ts";

/**
 * Creates a folder and runs `work` in it. If `work` fails, the folder is as before, so the command can be repeated.
 * Throws `InvalidInput` if the folder is not empty or cannot be created.
 */
export async function inNewFolder<T>(
  folder: string,
  { wayOut, mode }: { wayOut: string; mode?: number },
  work: () => Promise<T>,
): Promise<T> {
  const impossible = throwInvalid(({ code }) => `"${folder}" cannot be made a folder (${code}) - ${wayOut}`);
  // The outermost folder that `mkdir` created.
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
