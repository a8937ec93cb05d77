import { join } from "node:path";
import { LineFile } from "../../disk/line-file.ts";
import { Backlog, type Room } from "../../disk/room.ts";
import type { HistoryEvent } from "../history.ts";
import { HistoryFiles } from "./history-files.ts";
import { isEvent, type Journal, journalIn, type Line } from "./lines.ts";

export type EndStatus = "SUCCEEDED" | "FAILED" | "TIMED_OUT" | "ABORTED";
export type Status = "RUNNING" | EndStatus;

/** What lists show; inputs, outputs and errors are in the history. */
export interface Execution {
  number: number;
  name: string;
  arn: string;
  machineArn: string;
  versionArn?: string;
  /** Number of the revision it runs. */
  revision: number;
  startedAt: number;
  /** Of a child: the execution that started it, by which of its requests, and whether it waits for the end. */
  startedBy?: { arn: string; request: string; awaited: boolean };
  status: Status;
  stoppedAt?: number;
  /** Nothing of it is under way: all of it is on disk. It has something to do at `due`, or only when somebody answers. */
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

/**
 * The executions of a data folder: an index that is read whole on opening (a few short lines each), and a file each
 * that is read when somebody asks.
 */
export class Executions {
  readonly #backlog: Backlog;
  readonly #index: LineFile<Change>;
  readonly #histories: HistoryFiles;
  readonly #all: Execution[] = [];
  readonly #byArn = new Map<string, Execution>();

  constructor(folder: string, room: Room) {
    this.#backlog = new Backlog(room);
    this.#histories = new HistoryFiles(join(folder, "history"), this.#backlog);
    const { file, lines } = LineFile.open<Change>(join(folder, "executions.ndjson"));
    this.#index = file;
    for (const change of lines) this.#apply(change);
  }

  /** The latest of that name. */
  get(arn: string): Execution | undefined {
    return this.#byArn.get(arn);
  }

  /** Of one state machine, or of one of its versions; the latest first. */
  list(arn: string): Execution[] {
    return this.#all.filter((one) => one.machineArn === arn || one.versionArn === arn).reverse();
  }

  /** The latest first: children before those that started them. */
  running(): Execution[] {
    return this.#all.filter((one) => one.status === "RUNNING").reverse();
  }

  /** Children that have ended before those who wait for them. */
  endedBeforeParents(): Execution[] {
    return this.#all.filter(({ status, startedBy }) => {
      return status !== "RUNNING" && startedBy?.awaited && this.get(startedBy.arn)?.status === "RUNNING";
    });
  }

  /** Throws where the disk has no room: then there is no such execution. */
  start(execution: Omit<Execution, "number" | "status">): Execution {
    const number = this.#all.length;
    const change = { start: { ...execution, number } };
    this.#backlog.writeNow(() => this.#index.append(change));
    this.#apply(change);
    return this.#all[number] as Execution;
  }

  append(execution: Execution, line: Line): void {
    this.#histories.append(execution.number, line);
  }

  flush(execution: Execution): void {
    this.#histories.flush(execution.number);
  }

  park(execution: Execution, due: number | null): void {
    this.#histories.flush(execution.number);
    if (execution.parked?.due !== due) this.#change({ park: execution.number, due });
  }

  wake(execution: Execution): void {
    if (execution.parked) this.#change({ wake: execution.number });
  }

  end({ number }: Execution, status: EndStatus, at: number): void {
    this.#histories.flush(number);
    this.#change({ end: number, status, at });
  }

  history({ number }: Execution): HistoryEvent[] {
    return this.#histories.read(number).filter(isEvent);
  }

  journal({ number }: Execution): Journal {
    return journalIn(this.#histories.read(number));
  }

  /**
   * Makes the file of one that a dead process left running fit to be written to. One whose end is in it already gets
   * that end: the process died between the two writes.
   */
  repair(execution: Execution): void {
    this.#histories.repair(execution.number);
    const last = this.history(execution).at(-1);
    const status = END_TYPES[last?.type ?? ""];
    if (last && status) this.end(execution, status, last.timestamp * 1000);
  }

  close(): void {
    this.#histories.flushAll();
    this.#index.close();
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
