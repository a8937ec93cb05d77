import { randomBytes } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";

/** Writes a file that nobody ever sees half written. What the disk has no room for leaves nothing behind. */
export function writeWhole(path: string, content: string | Buffer, mode = 0o666): void {
  throughDraft(path, content, mode, (draft) => renameSync(draft, path));
}

/** Hands a whole draft beside `path` to `place`; what is left of the draft is removed. */
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
