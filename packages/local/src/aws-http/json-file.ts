import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** A small value in a file, whole at any moment: what a change was answered for is there after a crash. */
export class JsonFile<T> {
  readonly #path: string;
  readonly #otherwise: T;

  constructor(path: string, otherwise: T) {
    this.#path = path;
    this.#otherwise = otherwise;
  }

  read(): T {
    try {
      return JSON.parse(readFileSync(this.#path, "utf8")) as T;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return this.#otherwise;
      throw error;
    }
  }

  write(value: T): void {
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(`${this.#path}.new`, JSON.stringify(value));
    renameSync(`${this.#path}.new`, this.#path);
  }
}
