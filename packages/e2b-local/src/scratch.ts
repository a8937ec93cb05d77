import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { E2bServerError } from "./http.ts";

const PREFIX = "nova-e2b-";

/** Thrown if the disk of the scratch folder has no space for what sandboxes need. */
export class NoScratch extends E2bServerError {}

/** Performs a write to the scratch folder. Throws `NoScratch` if the disk is full. */
export function writeToScratch<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!["ENOSPC", "EDQUOT", "EROFS"].includes((cause as NodeJS.ErrnoException).code ?? "")) throw cause;
    const advice = "free some space on its disk, or name another folder in TMPDIR";
    throw new NoScratch(`${tmpdir()} has no room for what sandboxes need to start - ${advice}`, { cause });
  }
}

/**
 * Creates the scratch folder of this process: for sockets and, without isolation, for the files of sandboxes. Removes
 * the scratch folders of killed processes.
 */
export function makeScratch(): string {
  for (const name of readdirSync(tmpdir())) {
    const owner = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (owner && isGone(Number(owner))) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
  return writeToScratch(() => mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`)));
}

/** Returns whether a process has ended. The error EPERM means that the process still runs, as another user. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
