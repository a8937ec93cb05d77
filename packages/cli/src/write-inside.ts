import { constants } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { demandLeadsInside, OutsideFolder } from "@nova/workflow";
import { InvalidInput } from "./errors.ts";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_TRUNC, O_WRONLY } = constants;

/**
 * Writes a file inside `folder` and never follows a link out of it. Without `replaces` the file must be new. Throws
 * `InvalidInput`.
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
