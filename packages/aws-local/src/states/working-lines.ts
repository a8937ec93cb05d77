import type { LambdaResult } from "../lambda-types.ts";
import type { Capacity } from "./capacity.ts";
import type { LineOwner } from "./turns.ts";

export interface Call<Execution> {
  execution: Execution;
  line: object;
  place: LineOwner;
  /**
   * Called if the line has to wait. `isOnlyLine` is true if no other line of the execution makes a call. Returns a
   * function that is called when the wait is over.
   */
  onWait(isOnlyLine: boolean): () => void;
}

/**
 * Calls functions for the lines of executions. If too many lines work already, a line has to wait before its first
 * call. A line is a sequence of states, such as a branch. It starts to work at its first call. It stops when all of its
 * calls are answered and it makes no further call.
 */
export class WorkingLines<Execution> {
  readonly #capacity: Capacity<object>;
  /** The number of unanswered calls of each working line, by execution. */
  readonly #lines = new Map<Execution, Map<object, number>>();
  /** The working lines whose calls have all been answered. They may still make another call. */
  readonly #idle = new Map<Execution, Set<object>>();

  constructor(capacity: Capacity<object>) {
    this.#capacity = capacity;
  }

  /** Waits until the line may work, and then calls the function. */
  async run({ execution, line, place, onWait }: Call<Execution>, invoke: () => Promise<LambdaResult>) {
    const lines = this.#lines.get(execution) ?? new Map<object, number>();
    this.#lines.set(execution, lines);
    lines.set(line, (lines.get(line) ?? 0) + 1);
    this.#idle.get(execution)?.delete(line);
    const entered = this.#capacity.enter(line, place);
    if (entered) {
      const goOn = onWait(lines.size === 1);
      await entered;
      goOn();
    }
    try {
      return await invoke();
    } finally {
      this.#answered(execution, line, lines);
    }
  }

  #answered(execution: Execution, line: object, lines: Map<object, number>): void {
    const calls = (lines.get(line) ?? 1) - 1;
    if (calls > 0) lines.set(line, calls);
    else if (lines.has(line)) this.#idle.set(execution, (this.#idle.get(execution) ?? new Set()).add(line));
  }

  /**
   * Called when all answers to an execution have had their effects. A line that has made no further call stops working,
   * so another line may start.
   */
  rest(execution: Execution): void {
    for (const line of this.#idle.get(execution) ?? []) {
      this.#lines.get(execution)?.delete(line);
      this.#capacity.leave(line);
    }
    this.#idle.delete(execution);
  }

  leave(execution: Execution): void {
    for (const line of this.#lines.get(execution)?.keys() ?? []) this.#capacity.leave(line);
    this.#lines.delete(execution);
    this.#idle.delete(execution);
  }
}
