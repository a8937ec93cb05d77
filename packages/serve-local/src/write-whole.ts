import { randomBytes } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";

/** Writes a file that no reader ever sees half written. If the disk is full, no part of it remains. */
export function writeWhole(path: string, content: string | Buffer, mode = 0o666): void {
  throughDraft(path, content, mode, (draft) => renameSync(draft, path));
}

/** Passes a complete draft beside `path` to `place`, and removes the draft afterwards. */
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
