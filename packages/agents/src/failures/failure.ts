import type { RunErrorClass } from "@nova/workflow";

/**
 * A failure that ends a node without a further attempt, because other code would not help, or because no model may
 * write other code.
 */
export interface Ending {
  class: RunErrorClass;
  message: string;
  traceback?: string;
  types?: readonly string[];
  logs?: string;
}

/** A failed attempt, which the prompt of the next attempt describes. */
export interface Failure extends Ending {
  /** Number of the attempt; 0 for pinned code. */
  attempt: number;
  code: string | null;
}

/** Turns a failure into the end of the node. */
export function endingOf({ attempt: _, code: __, ...ending }: Failure): Ending {
  return ending;
}

type Traces = Pick<Ending, "traceback" | "types" | "logs">;

/** Returns those of the traceback, the types and the logs of a failure that are not empty. */
export function tracesOf({ traceback, types, logs }: { [Name in keyof Traces]?: Traces[Name] | undefined }): Traces {
  return { ...(traceback && { traceback }), ...(types && { types }), ...(logs && { logs }) };
}

/** The result of an agent: a value, a failed attempt, or the end of the node. */
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
