/** The two errors that end an execution whatever `States.ALL` and `States.TaskFailed` say. */
const TERMINAL = new Set(["States.Runtime", "States.DataLimitExceeded"]);

/**
 * What a state failed with. `error` is missing where nobody named one (a Fail state without Error, SendTaskFailure
 * without error): wildcards still match it.
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

/** A failure found while evaluating a state's fields; the state it happened in is added by `located`. */
export class EvaluationFailure extends StateFailure {
  located(state: string, enteredEventId: number): StateFailure {
    const where = `An error occurred while executing the state '${state}' (entered at the event id #${enteredEventId}).`;
    return new StateFailure(this.error, `${where} ${this.details}`);
  }
}

export function runtimeFailure(details: string): EvaluationFailure {
  return new EvaluationFailure("States.Runtime", details);
}

/** AWS would refuse the definition, or it cannot be run here. */
export class DefinitionRejected extends Error {
  override readonly name = "DefinitionRejected";
  /** As AWS writes it: `/States/S/Next`. */
  readonly at: string;
  readonly code: string;

  constructor(at: string, message: string, code = "SCHEMA_VALIDATION_FAILED") {
    super(message);
    this.at = at || "/";
    this.code = code;
  }
}

/** Thrown through states that were told to stop: no failure, so no Retry or Catch sees it. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";
}

/** Step Functions: input or output of a task, state or execution, as UTF-8. */
export const DATA_LIMIT_BYTES = 256 * 1024;

/** True without counting for nearly every text: a UTF-16 unit takes one to three bytes. */
export function exceedsDataLimit(text: string): boolean {
  if (text.length > DATA_LIMIT_BYTES) return true;
  return text.length * 3 > DATA_LIMIT_BYTES && Buffer.byteLength(text) > DATA_LIMIT_BYTES;
}

/** `owner` is the state's name, or for a task's own result its resource. */
export function assertWithinDataLimit(text: string, owner: string): void {
  if (!exceedsDataLimit(text)) return;
  throw new StateFailure(
    "States.DataLimitExceeded",
    `The state/task '${owner}' returned a result with a size exceeding the maximum number of bytes service limit.`,
  );
}
