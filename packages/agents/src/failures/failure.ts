import type { RunErrorClass } from "@nova/workflow";

/** What ends a node at once: no other code would help, or none may be written. */
export interface Ending {
  class: RunErrorClass;
  message: string;
  traceback?: string;
  types?: readonly string[];
  logs?: string;
}

/** Why an attempt came to nothing; the next one learns from it. */
export interface Failure extends Ending {
  /** 0: code that was pinned. */
  attempt: number;
  /** Null where none was written. */
  code: string | null;
}

/** A failure that no other attempt follows. */
export function endingOf({ attempt: _, code: __, ...ending }: Failure): Ending {
  return ending;
}

type Traces = Pick<Ending, "traceback" | "types" | "logs">;

/** What is known of a failure besides its message; what is empty is left out. */
export function tracesOf({ traceback, types, logs }: { [Name in keyof Traces]?: Traces[Name] | undefined }): Traces {
  return { ...(traceback && { traceback }), ...(types && { types }), ...(logs && { logs }) };
}

/** What an agent came to: its value, a failed attempt, or the end of the node. */
export type Result<T> =
  | { kind: "done"; value: T }
  | { kind: "failed"; failure: Failure }
  | { kind: "ended"; ending: Ending };

export function done<T>(value: T): Result<T> {
  return { kind: "done", value };
}

export function failed(failure: Failure): Result<never> {
  return { kind: "failed", failure };
}

export function ended(ending: Ending): Result<never> {
  return { kind: "ended", ending };
}
