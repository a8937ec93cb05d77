import { join } from "node:path";
import type { HistoryEvent } from "../history.ts";
import { HistoryFiles } from "./history-files.ts";
import { LineFile } from "./line-file.ts";

export type Status = "RUNNING" | "SUCCEEDED" | "FAILED" | "TIMED_OUT" | "ABORTED";

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
  status: Status;
  stoppedAt?: number;
}

type Change =
  | { start: Omit<Execution, "status" | "stoppedAt"> }
  | { end: number; status: Exclude<Status, "RUNNING">; at: number };

const END_TYPES: Record<string, Exclude<Status, "RUNNING">> = {
  ExecutionSucceeded: "SUCCEEDED",
  ExecutionFailed: "FAILED",
  ExecutionTimedOut: "TIMED_OUT",
  ExecutionAborted: "ABORTED",
};

/**
 * The executions of a data folder: an index that is read whole on opening (two short lines each), and a history file
 * each that is read when somebody asks.
 */
export class Executions {
  readonly #index: LineFile<Change>;
  readonly #histories: HistoryFiles;
  readonly #all: Execution[] = [];
  readonly #byArn = new Map<string, Execution>();

  constructor(folder: string) {
    this.#histories = new HistoryFiles(join(folder, "history"));
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

  start(execution: Omit<Execution, "number" | "status">): Execution {
    const number = this.#all.length;
    this.#change({ start: { ...execution, number } });
    return this.#all[number] as Execution;
  }

  append(execution: Execution, event: HistoryEvent): void {
    this.#histories.append(execution.number, event);
  }

  flush(execution: Execution): void {
    this.#histories.flush(execution.number);
  }

  end({ number }: Execution, status: Exclude<Status, "RUNNING">, at: number): void {
    this.#histories.flush(number);
    this.#change({ end: number, status, at });
  }

  history({ number }: Execution): HistoryEvent[] {
    return this.#histories.read(number);
  }

  /**
   * Ends what a dead process left running, with `interrupted` as its last event, and answers those. One whose end was
   * in its history already gets that end: the process died between the two writes.
   */
  endInterrupted(interrupted: (previous: HistoryEvent[]) => HistoryEvent): Execution[] {
    const running = this.#all.filter((one) => one.status === "RUNNING");
    return running.filter((execution) => {
      const events = this.#histories.read(execution.number);
      const last = events.at(-1);
      const status = END_TYPES[last?.type ?? ""];
      if (last && status) this.end(execution, status, last.timestamp * 1000);
      else this.#interrupt(execution, interrupted(events));
      return status === undefined;
    });
  }

  close(): void {
    this.#histories.flushAll();
    this.#index.close();
  }

  #interrupt(execution: Execution, event: HistoryEvent): void {
    this.#histories.repair(execution.number);
    this.append(execution, event);
    this.end(execution, "ABORTED", event.timestamp * 1000);
  }

  #change(change: Change): void {
    this.#index.append(change);
    this.#apply(change);
  }

  #apply(change: Change): void {
    if ("start" in change) {
      const execution: Execution = { ...change.start, status: "RUNNING" };
      this.#all[execution.number] = execution;
      this.#byArn.set(execution.arn, execution);
    } else Object.assign(this.#all[change.end] as Execution, { status: change.status, stoppedAt: change.at });
  }
}
