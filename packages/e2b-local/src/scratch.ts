import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { E2bServerError } from "./http.ts";

const PREFIX = "nova-e2b-";

/** The folder for scratch has no room for sandboxes. */
export class NoScratch extends E2bServerError {}

/** Does something that writes to the scratch folder. Throws `NoScratch` where that takes no more. */
export function inScratch<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!["ENOSPC", "EDQUOT", "EROFS"].includes((cause as NodeJS.ErrnoException).code ?? "")) throw cause;
    const advice = "free some space on its disk, or name another folder in TMPDIR";
    throw new NoScratch(`${tmpdir()} has no room for what sandboxes need to start - ${advice}`, { cause });
  }
}

/** A folder for sockets and, without isolation, the sandboxes' files; those of processes that were killed are removed. */
export function makeScratch(): string {
  for (const name of readdirSync(tmpdir())) {
    const owner = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (owner && isGone(Number(owner))) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
  return inScratch(() => mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`)));
}

/** Somebody else's process answers EPERM: it is there, and its folder is not ours. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
