import type { JournalledExecution } from "./journal/journalled-execution.ts";
import type { Execution } from "./store/executions.ts";

/** Parked executions that stay in memory, so that the next answer finds them there. */
const MOST_PARKED = 100;

/** The executions in memory: all that are busy, and of those that are parked the latest. */
export class Runs {
  readonly #all = new Map<Execution, JournalledExecution>();
  /** The longest parked first. */
  readonly #parked = new Set<Execution>();

  get(execution: Execution): JournalledExecution | undefined {
    return this.#all.get(execution);
  }

  add(execution: Execution, run: JournalledExecution): void {
    this.#all.set(execution, run);
  }

  entries(): Iterable<[Execution, JournalledExecution]> {
    return this.#all;
  }

  /** It may be forgotten. */
  parked(execution: Execution): void {
    this.#parked.delete(execution);
    this.#parked.add(execution);
    if (this.#parked.size > MOST_PARKED) for (const longest of [...this.#parked].slice(0, 1)) this.delete(longest);
  }

  woken(execution: Execution): void {
    this.#parked.delete(execution);
  }

  /** Nothing reaches it any more. */
  delete(execution: Execution): void {
    this.#all.get(execution)?.leave();
    this.#all.delete(execution);
    this.#parked.delete(execution);
  }

  get areBusy(): boolean {
    for (const run of this.#all.values()) if (run.isBusy) return true;
    return false;
  }
}
