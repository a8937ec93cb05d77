import type { LambdaResult } from "../lambda-types.ts";
import type { Capacity } from "./capacity.ts";
import type { LineOwner } from "./turns.ts";

export interface Call<Execution> {
  execution: Execution;
  line: object;
  place: LineOwner;
  /** Called when the line has to wait. Returns the function to call at the end of the wait. */
  onWait(isOnlyLine: boolean): () => void;
}

/** The lines that call functions, by execution. A line works from its first call until it rests. */
export class WorkingLines<Execution> {
  readonly #capacity: Capacity<object>;
  /** The number of unanswered calls of each line. */
  readonly #lines = new Map<Execution, Map<object, number>>();
  /** Lines without an unanswered call. */
  readonly #idle = new Map<Execution, Set<object>>();

  constructor(capacity: Capacity<object>) {
    this.#capacity = capacity;
  }

  /** Calls a function once the line may work. */
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

  /** Removes idle lines: all answers have had their effects, and the line called no further function. */
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
