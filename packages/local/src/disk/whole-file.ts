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

/** Values by their keys in a small file that is whole at any moment: what a change was answered for outlives a crash. */
export class KeyedFile<T> {
  readonly #path: string;
  readonly #keyOf: (value: T) => string;
  /** Read when it is first asked for. */
  #values: Map<string, T> | undefined;

  constructor(path: string, keyOf: (value: T) => string) {
    this.#path = path;
    this.#keyOf = keyOf;
  }

  all(): T[] {
    return [...this.#byKey().values()];
  }

  get(key: string): T | undefined {
    return this.#byKey().get(key);
  }

  put(value: T): void {
    this.#write(new Map(this.#byKey()).set(this.#keyOf(value), value));
  }

  remove(key: string): void {
    const left = new Map(this.#byKey());
    left.delete(key);
    this.#write(left);
  }

  #byKey(): Map<string, T> {
    if (this.#values) return this.#values;
    const bytes = readIfThere(this.#path);
    const values: T[] = bytes.length > 0 ? JSON.parse(bytes.toString()) : [];
    this.#values = new Map(values.map((value) => [this.#keyOf(value), value]));
    return this.#values;
  }

  #write(values: Map<string, T>): void {
    mkdirSync(dirname(this.#path), { recursive: true });
    writeWhole(this.#path, JSON.stringify([...values.values()]));
    this.#values = values;
  }
}
