import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { readIfThere } from "./line-file.ts";
import { writeWhole } from "./whole-file.ts";

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
