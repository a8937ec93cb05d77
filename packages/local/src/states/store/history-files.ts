import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Line } from "../journal/lines.ts";
import { LineFile, parseLines } from "./line-file.ts";

/** How much of a history a killed process may lose. */
const FLUSH_AFTER_MS = 100;

/**
 * One file per execution: its events, and between them what they followed from. It is named by the execution's number:
 * names of executions are not safe file names.
 */
export class HistoryFiles {
  readonly #folder: string;
  readonly #buffers = new Map<number, string[]>();
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  append(execution: number, line: Line): void {
    const text = `${JSON.stringify(line)}\n`;
    const buffer = this.#buffers.get(execution);
    if (buffer) buffer.push(text);
    else this.#buffers.set(execution, [text]);
    this.#timer ??= setTimeout(() => this.flushAll(), FLUSH_AFTER_MS).unref();
  }

  flush(execution: number): void {
    const buffer = this.#buffers.get(execution);
    if (!buffer) return;
    this.#buffers.delete(execution);
    appendFileSync(this.#path(execution), buffer.join(""));
  }

  flushAll(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const execution of [...this.#buffers.keys()]) this.flush(execution);
  }

  /** Everything recorded so far; nothing where a crash came before the first flush. */
  read(execution: number): Line[] {
    this.flush(execution);
    try {
      return parseLines(readFileSync(this.#path(execution), "utf8"));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  }

  /** Cuts off the line that a crash left half written. */
  repair(execution: number): void {
    LineFile.open(this.#path(execution)).file.close();
  }

  #path(execution: number): string {
    return join(this.#folder, `${execution}.ndjson`);
  }
}
