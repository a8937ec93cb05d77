import { randomBytes } from "node:crypto";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { readIfThere } from "./line-file.ts";

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

/** A small value in a file, whole at any moment: what a change was answered for is there after a crash. */
export class JsonFile<T> {
  readonly #path: string;
  readonly #otherwise: T;

  constructor(path: string, otherwise: T) {
    this.#path = path;
    this.#otherwise = otherwise;
  }

  read(): T {
    const bytes = readIfThere(this.#path);
    return bytes.length > 0 ? (JSON.parse(bytes.toString()) as T) : this.#otherwise;
  }

  write(value: T): void {
    mkdirSync(dirname(this.#path), { recursive: true });
    writeWhole(this.#path, JSON.stringify(value));
  }
}
