/** The two errors that end an execution although `States.ALL` or `States.TaskFailed` is named. */
const TERMINAL = new Set(["States.Runtime", "States.DataLimitExceeded"]);

/**
 * The failure of a state. `error` is missing for a Fail state without Error, and for SendTaskFailure without error.
 * Wildcards still match it.
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

  /** Whether `errorEquals` of a Retry or Catch names this failure. */
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

/** A failure while a state's fields are evaluated. `located` adds the state. */
export class EvaluationFailure extends StateFailure {
  located(state: string, enteredEventId: number): StateFailure {
    const where = `An error occurred while executing the state '${state}' (entered at the event id #${enteredEventId}).`;
    return new StateFailure(this.error, `${where} ${this.details}`);
  }
}

export function runtimeFailure(details: string): EvaluationFailure {
  return new EvaluationFailure("States.Runtime", details);
}

/** A definition that AWS would refuse, or that is not served here. */
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

/** Thrown through states that have to stop. It is no failure, so no Retry or Catch sees it. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";
}

/** Step Functions: the limit for input and output of a task, state or execution, as UTF-8. */
export const DATA_LIMIT_BYTES = 256 * 1024;

/** Nearly always answers without counting bytes: a UTF-16 unit takes one to three bytes. */
export function exceedsDataLimit(text: string): boolean {
  if (text.length > DATA_LIMIT_BYTES) return true;
  return text.length * 3 > DATA_LIMIT_BYTES && Buffer.byteLength(text) > DATA_LIMIT_BYTES;
}

/** `owner` is the state's name, or the resource for a task's own result. */
export function assertWithinDataLimit(text: string, owner: string): void {
  if (!exceedsDataLimit(text)) return;
  throw new StateFailure(
    "States.DataLimitExceeded",
    `The state/task '${owner}' returned a result with a size exceeding the maximum number of bytes service limit.`,
  );
}
