import { constants } from "node:fs";
import { type FileHandle, open, readlink, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";

/** A link leads out of the folder. Following it could publish any file of this machine. */
export class OutsideFolder extends Error {
  override name = "OutsideFolder";
}

/** Never waits for the writer of a FIFO, and never takes a terminal as the controlling one. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Opens a regular file inside `folder` after following all links; the folder itself may be a link. Returns undefined if
 * there is no such file. Throws `OutsideFolder`. The caller closes the handle.
 */
export async function openInside(folder: string, path: string): Promise<FileHandle | undefined> {
  const full = join(folder, path);
  const found = await stat(full).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  const handle = await open(full, flags).catch(() => undefined);
  if (!handle) return undefined;
  try {
    // Checks the opened file, because the path may lead to another file by now.
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

/** Throws `OutsideFolder` if a path leads out of `folder`. A missing file is fine. */
export async function demandLeadsInside(folder: string, path: string): Promise<void> {
  const real = await realpath(join(folder, path)).catch(() => undefined);
  if (real !== undefined) demandInside(await realpath(folder), real, path);
}

/** Returns the path of an open file. Linux knows it; on other systems the path must lead to the same file. */
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
