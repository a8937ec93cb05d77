import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { writeWhole } from "@nova/serve-local";
import { readIfThere } from "./line-file.ts";

/**
 * Values by key in a small file. Each change replaces the whole file in one step, and is on disk before the call
 * returns.
 */
export class KeyedFile<T> {
  readonly #path: string;
  readonly #keyOf: (value: T) => string;
  /** Undefined until the file has been read. */
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
