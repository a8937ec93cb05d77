import { randomBytes } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";

/**
 * Writes a file in one step: a reader sees its old or its new content, and never a part. If the disk is full, nothing
 * of the new content remains.
 */
export function writeWhole(path: string, content: string | Buffer, mode = 0o666): void {
  throughDraft(path, content, mode, (draft) => renameSync(draft, path));
}

/** Writes the content to a temporary file beside `path`, passes that file to `place`, and then removes it. */
export function throughDraft(
  path: string,
  content: string | Buffer,
  mode: number,
  place: (draft: string) => void,
): void {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    writeFileSync(draft, content, { mode, flag: "wx" });
    place(draft);
  } finally {
    rmSync(draft, { force: true });
  }
}
