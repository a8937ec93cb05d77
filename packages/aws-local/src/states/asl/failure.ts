/** The two errors that `States.ALL` and `States.TaskFailed` do not match. */
const TERMINAL = new Set(["States.Runtime", "States.DataLimitExceeded"]);

/**
 * The failure of a state. `error` is undefined after a Fail state without Error, and after SendTaskFailure without
 * error. `States.ALL` and `States.TaskFailed` match such a failure, too.
 */
export class StateFailure extends Error {
  override readonly name = "StateFailure";
  readonly error: string | undefined;
  readonly details: string | undefined;

  constructor(error: string | undefined, details?: string) {
    super(`${error ?? "(no error name)"}: ${details ?? "(no cause)"}`);
    this.error = error;
    this.details = details;
  }

  /** Returns whether `errorEquals` of a Retry or Catch names this failure. */
  matches(errorEquals: readonly string[]): boolean {
    return errorEquals.some((name) => this.#isNamed(name));
  }

  #isNamed(name: string): boolean {
    if (name === "States.ALL") return !this.#isTerminal();
    if (name === "States.TaskFailed") return !this.#isTerminal() && this.error !== "States.Timeout";
    if (name === "States.Runtime") return false;
    return this.error === name;
  }

  #isTerminal(): boolean {
    return this.error !== undefined && TERMINAL.has(this.error);
  }
}

/** Thrown if a field of a state cannot be evaluated. `located` returns a failure whose text also names the state. */
export class EvaluationFailure extends StateFailure {
  located(state: string, enteredEventId: number): StateFailure {
    const where = `An error occurred while executing the state '${state}' (entered at the event id #${enteredEventId}).`;
    return new StateFailure(this.error, `${where} ${this.details}`);
  }
}

export function runtimeFailure(details: string): EvaluationFailure {
  return new EvaluationFailure("States.Runtime", details);
}

/** Thrown for a definition that AWS would refuse, or that the emulator does not serve. */
export class DefinitionRejected extends Error {
  override readonly name = "DefinitionRejected";
  /** The path as AWS writes it: `/States/S/Next`. */
  readonly at: string;
  readonly code: string;

  constructor(at: string, message: string, code = "SCHEMA_VALIDATION_FAILED") {
    super(message);
    this.at = at || "/";
    this.code = code;
  }
}

/**
 * Thrown in a state that has to stop because its execution or branch was cancelled. It is no `StateFailure`, so no
 * Retry or Catch handles it.
 */
export class Cancelled extends Error {
  override readonly name = "Cancelled";
}

/** Step Functions' limit for the input and the output of a task, a state or an execution, in bytes of UTF-8. */
export const DATA_LIMIT_BYTES = 256 * 1024;

/**
 * Returns whether a text is longer than the limit. Counts the bytes only if the text is close to the limit. In all
 * other cases the length of the text decides, because each UTF-16 unit takes one to three bytes.
 */
export function exceedsDataLimit(text: string): boolean {
  if (text.length > DATA_LIMIT_BYTES) return true;
  return text.length * 3 > DATA_LIMIT_BYTES && Buffer.byteLength(text) > DATA_LIMIT_BYTES;
}

/**
 * Throws `States.DataLimitExceeded` for a text above the limit. The message names `owner`: the state, or the resource
 * whose result the text is.
 */
export function assertWithinDataLimit(text: string, owner: string): void {
  if (!exceedsDataLimit(text)) return;
  throw new StateFailure(
    "States.DataLimitExceeded",
    `The state/task '${owner}' returned a result with a size exceeding the maximum number of bytes service limit.`,
  );
}
