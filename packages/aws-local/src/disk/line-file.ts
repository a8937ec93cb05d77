import { appendFileSync, closeSync, fstatSync, ftruncateSync, openSync, readFileSync } from "node:fs";

/** A file of JSON lines that only grows. The first write removes an incomplete last line, which a crash has left. */
export class LineFile<T> {
  readonly #path: string;
  /** The offset at which the last complete line ended when the file was opened. */
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
   * Writes a line before it returns, so the line survives a crash of the process. If the disk has space for only a part
   * of the line, it removes that part and throws.
   */
  append(line: T): void {
    appendWhole(this.#opened(), `${JSON.stringify(line)}\n`);
  }

  /** Removes an incomplete last line, which a crash has left. */
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

/** Appends the complete text. If that fails, it removes the written part and throws. */
export function appendWhole(file: number, text: string): void {
  const { size } = fstatSync(file);
  try {
    appendFileSync(file, text);
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}

/** Parses the lines of a file that is still being written: an unfinished last line is left out. */
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
