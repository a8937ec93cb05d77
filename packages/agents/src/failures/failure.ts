import type { RunErrorClass } from "@nova/workflow";

/** Why an attempt came to nothing; the next one learns from it. */
export interface Failure {
  /** 0: code that was pinned. */
  attempt: number;
  error: string;
  /** Null where none was written. */
  code: string | null;
  class: RunErrorClass;
  traceback?: string;
  types?: readonly string[];
  logs?: string;
}

/** What ends a node at once: no other code would help, or none may be written. */
export interface Ending {
  class: RunErrorClass;
  message: string;
  traceback?: string;
  types?: readonly string[];
  logs?: string;
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
