import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { appendWhole, LineFile, parseLines, readIfThere } from "../../disk/line-file.ts";
import type { Backlog } from "../../disk/room.ts";
import type { Line } from "./lines.ts";

/** How much of a history a killed process may lose. */
const FLUSH_AFTER_MS = 100;

/**
 * One file per execution: its events, and between them what they followed from. It is named by the execution's number:
 * names of executions are not safe file names.
 */
export class HistoryFiles {
  readonly #folder: string;
  readonly #backlog: Backlog;
  readonly #buffers = new Map<number, string[]>();
  /** What the disk has no room for yet. */
  readonly #unwritten = new Map<number, string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string, backlog: Backlog) {
    this.#folder = folder;
    this.#backlog = backlog;
    mkdirSync(folder, { recursive: true });
  }

  append(execution: number, line: Line): void {
    const text = `${JSON.stringify(line)}\n`;
    const buffer = this.#buffers.get(execution);
    if (buffer) buffer.push(text);
    else this.#buffers.set(execution, [text]);
    this.#timer ??= setTimeout(() => this.flushAll(), FLUSH_AFTER_MS).unref();
  }

  /** What is appended later comes behind it, also where the disk is full now. */
  flush(execution: number): void {
    const text = this.#buffers.get(execution)?.join("");
    if (text === undefined) return;
    this.#buffers.delete(execution);
    this.#unwritten.set(execution, (this.#unwritten.get(execution) ?? "") + text);
    this.#backlog.write(() => this.#write(execution, text));
  }

  flushAll(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const execution of [...this.#buffers.keys()]) this.flush(execution);
  }

  /** Everything recorded so far; nothing where a crash came before the first flush. */
  read(execution: number): Line[] {
    this.flush(execution);
    return parseLines(readIfThere(this.#path(execution)).toString() + (this.#unwritten.get(execution) ?? ""));
  }

  /** Cuts off the line that a crash left half written. */
  repair(execution: number): void {
    const { file } = LineFile.open(this.#path(execution));
    file.repair();
    file.close();
  }

  #write(execution: number, text: string): void {
    const file = openSync(this.#path(execution), "a");
    try {
      appendWhole(file, text);
    } finally {
      closeSync(file);
    }
    const left = this.#unwritten.get(execution)?.slice(text.length);
    if (left) this.#unwritten.set(execution, left);
    else this.#unwritten.delete(execution);
  }

  #path(execution: number): string {
    return join(this.#folder, `${execution}.ndjson`);
  }
}
