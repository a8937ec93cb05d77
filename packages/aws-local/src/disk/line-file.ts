import { appendFileSync, closeSync, fstatSync, ftruncateSync, openSync, readFileSync } from "node:fs";

/**
 * A file of JSON lines that only grows. A line cut short by a crash is dropped at the first write, so that the next one
 * starts on a line of its own.
 */
export class LineFile<T> {
  readonly #path: string;
  /** Where the last whole line ends that was found on opening. */
  #end: number;
  #file: number | undefined;

  private constructor(path: string, end: number) {
    this.#path = path;
    this.#end = end;
  }

  static open<T>(path: string): { file: LineFile<T>; lines: T[] } {
    const bytes = readIfThere(path);
    const end = bytes.lastIndexOf(10) + 1;
    return { file: new LineFile(path, end), lines: parseLines(bytes.toString("utf8", 0, end)) };
  }

  /**
   * Written before this returns: whoever is told of the change may rely on finding it after a crash of the process.
   * Where the disk takes only a part of it, it throws, and nothing is written.
   */
  append(line: T): void {
    appendWhole(this.#opened(), `${JSON.stringify(line)}\n`);
  }

  /** Cuts off the line that a crash left half written. */
  repair(): void {
    this.#opened();
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #opened(): number {
    if (this.#file !== undefined) return this.#file;
    const file = openSync(this.#path, "a");
    if (fstatSync(file).size > this.#end) ftruncateSync(file, this.#end);
    this.#end = Number.POSITIVE_INFINITY;
    this.#file = file;
    return file;
  }
}

/** All of the text, or nothing of it. */
export function appendWhole(file: number, text: string): void {
  const { size } = fstatSync(file);
  try {
    appendFileSync(file, text);
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}

/** Lines of a file that may still be written to: an unfinished last line is left out. */
export function parseLines<T>(text: string): T[] {
  const end = text.lastIndexOf("\n");
  return end < 0 ? [] : (JSON.parse(`[${text.slice(0, end).replaceAll("\n", ",")}]`) as T[]);
}

export function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}
