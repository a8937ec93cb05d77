import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";

/**
 * A file of JSON lines that only grows. A line cut short by a crash is dropped on opening, so that the next one starts
 * on a line of its own.
 */
export class LineFile<T> {
  readonly #file: number;

  private constructor(file: number) {
    this.#file = file;
  }

  static open<T>(path: string): { file: LineFile<T>; lines: T[] } {
    const file = openSync(path, "a+");
    const bytes = readFileSync(file);
    const end = bytes.lastIndexOf(10) + 1;
    if (end < bytes.length) ftruncateSync(file, end);
    return { file: new LineFile(file), lines: parseLines(bytes.toString("utf8", 0, end)) };
  }

  /** Written before this returns: whoever is told of the change may rely on finding it after a crash of the process. */
  append(line: T): void {
    writeSync(this.#file, `${JSON.stringify(line)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Lines of a file that may still be written to: an unfinished last line is left out. */
export function parseLines<T>(text: string): T[] {
  const end = text.lastIndexOf("\n");
  return end < 0 ? [] : (JSON.parse(`[${text.slice(0, end).replaceAll("\n", ",")}]`) as T[]);
}
