import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { Backlog, type DiskSpace } from "../../disk/disk-space.ts";
import { appendWhole, LineFile, parseLines, readIfThere } from "../../disk/line-file.ts";
import type { HistoryEvent } from "../history.ts";
import { type Journal, journalIn, type Line } from "./lines.ts";

export type EndStatus = "SUCCEEDED" | "FAILED" | "TIMED_OUT" | "ABORTED";
export type Status = "RUNNING" | EndStatus;

/** An execution, as lists show it. Its input, output and error are in its history. */
export interface Execution {
  number: number;
  name: string;
  arn: string;
  machineArn: string;
  versionArn?: string;
  /** The number of the state machine's revision that the execution runs. */
  revision: number;
  startedAt: number;
  /**
   * Set if another execution (the parent) has started this one: the parent, the id of its request, and whether it waits
   * for the end.
   */
  startedBy?: { arn: string; request: string; awaited: boolean };
  status: Status;
  stoppedAt?: number;
  /**
   * Set if the execution does no work and is complete on disk. It continues at the time `due`, or only after an answer
   * if `due` is null.
   */
  parked?: { due: number | null };
}

type Change =
  | { start: Omit<Execution, "status" | "stoppedAt" | "parked"> }
  | { end: number; status: EndStatus; at: number }
  | { park: number; due: number | null }
  | { wake: number };

const END_TYPES: Record<string, EndStatus> = {
  ExecutionSucceeded: "SUCCEEDED",
  ExecutionFailed: "FAILED",
  ExecutionTimedOut: "TIMED_OUT",
  ExecutionAborted: "ABORTED",
};

/** Events are written to disk after this time at the latest. A killed process may lose younger events. */
const FLUSH_AFTER_MS = 100;

/**
 * The executions of a data folder. An index with a few short lines for each execution is read on opening. The events
 * and inputs of an execution are in its own file, which is read only when it is needed. The file's name is the
 * execution's number, because an execution's name may be no valid file name.
 */
export class Executions {
  readonly #backlog: Backlog;
  readonly #index: LineFile<Change>;
  readonly #folder: string;
  readonly #buffers = new Map<number, string>();
  /** By execution: text that is not in its file yet, because the disk is full. */
  readonly #unwritten = new Map<number, string>();
  #timer: NodeJS.Timeout | undefined;
  readonly #all: Execution[] = [];
  readonly #byArn = new Map<string, Execution>();

  constructor(folder: string, disk: DiskSpace) {
    this.#backlog = new Backlog(disk);
    this.#folder = join(folder, "history");
    mkdirSync(this.#folder, { recursive: true });
    const { file, lines } = LineFile.open<Change>(join(folder, "executions.ndjson"));
    this.#index = file;
    for (const change of lines) this.#apply(change);
  }

  /** Returns the latest execution with that ARN. */
  get(arn: string): Execution | undefined {
    return this.#byArn.get(arn);
  }

  /** Returns the executions of a state machine or of one of its versions, the latest first. */
  list(arn: string): Execution[] {
    return this.#all.filter((one) => one.machineArn === arn || one.versionArn === arn).reverse();
  }

  /** Returns the running executions, the latest first: children come before their parents. */
  running(): Execution[] {
    return this.#all.filter((one) => one.status === "RUNNING").reverse();
  }

  /** Returns the ended children whose parents still wait for them. */
  endedBeforeParents(): Execution[] {
    return this.#all.filter(({ status, startedBy }) => {
      return status !== "RUNNING" && startedBy?.awaited && this.get(startedBy.arn)?.status === "RUNNING";
    });
  }

  /** Adds a new execution. Throws and adds nothing if the disk is full. */
  start(execution: Omit<Execution, "number" | "status">): Execution {
    const number = this.#all.length;
    const change = { start: { ...execution, number } };
    this.#backlog.writeNow(() => this.#index.append(change));
    this.#apply(change);
    return this.#all[number] as Execution;
  }

  append({ number }: Execution, line: Line): void {
    this.#buffers.set(number, `${this.#buffers.get(number) ?? ""}${JSON.stringify(line)}\n`);
    this.#timer ??= setTimeout(() => this.#flushAll(), FLUSH_AFTER_MS).unref();
  }

  /**
   * Writes the buffered events of an execution. If the disk is full, it writes them later, but still before all later
   * events.
   */
  flush({ number }: Pick<Execution, "number">): void {
    const text = this.#buffers.get(number);
    if (text === undefined) return;
    this.#buffers.delete(number);
    this.#unwritten.set(number, (this.#unwritten.get(number) ?? "") + text);
    this.#backlog.write(() => this.#write(number, text));
  }

  park(execution: Execution, due: number | null): void {
    this.flush(execution);
    if (execution.parked?.due !== due) this.#change({ park: execution.number, due });
  }

  wake(execution: Execution): void {
    if (execution.parked) this.#change({ wake: execution.number });
  }

  end(execution: Execution, status: EndStatus, at: number): void {
    this.flush(execution);
    this.#change({ end: execution.number, status, at });
  }

  /** Ends an execution that cannot continue. Its history keeps its events, and the end becomes the last event. */
  interrupt(execution: Execution, cause: string, nowMs: number): void {
    const id = (this.history(execution).at(-1)?.id ?? 0) + 1;
    const executionAbortedEventDetails = { error: "Interrupted", cause };
    const at = { timestamp: nowMs / 1000, id, previousEventId: 0 };
    this.append(execution, { ...at, type: "ExecutionAborted", executionAbortedEventDetails });
    this.end(execution, "ABORTED", nowMs);
  }

  history(execution: Execution): HistoryEvent[] {
    return this.journal(execution).events;
  }

  /**
   * Returns everything that the file of an execution records. The result is empty if the process died before its first
   * write to the file.
   */
  journal(execution: Execution): Journal {
    this.flush(execution);
    const written = readIfThere(this.#path(execution.number)).toString();
    return journalIn(parseLines<Line>(written + (this.#unwritten.get(execution.number) ?? "")));
  }

  /**
   * Repairs the records of an execution that was at work when its process died. Removes an incomplete last line of its
   * file. If the file has the end of the execution but the index does not, adds it to the index.
   */
  repair(execution: Execution): void {
    const { file } = LineFile.open(this.#path(execution.number));
    file.repair();
    file.close();
    const last = this.history(execution).at(-1);
    const status = END_TYPES[last?.type ?? ""];
    if (last && status) this.end(execution, status, last.timestamp * 1000);
  }

  close(): void {
    this.#flushAll();
    this.#index.close();
  }

  #flushAll(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const number of [...this.#buffers.keys()]) this.flush({ number });
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

  #change(change: Change): void {
    this.#backlog.write(() => this.#index.append(change));
    this.#apply(change);
  }

  #apply(change: Change): void {
    if ("start" in change) {
      const execution: Execution = { ...change.start, status: "RUNNING" };
      this.#all[execution.number] = execution;
      this.#byArn.set(execution.arn, execution);
      return;
    }
    if ("park" in change) (this.#all[change.park] as Execution).parked = { due: change.due };
    else if ("wake" in change) delete (this.#all[change.wake] as Execution).parked;
    else {
      const execution = this.#all[change.end] as Execution;
      delete execution.parked;
      Object.assign(execution, { status: change.status, stoppedAt: change.at });
    }
  }
}
