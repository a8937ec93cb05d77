import type { RunErrorClass } from "@nova/workflow";
import { maskCredentials } from "./secrets/redactor.ts";

/** An error of a run. Lambda reports its name as `errorType`, which `Retry` and `Catch` of the state machine match. */
export class NovaError extends Error {
  constructor(name: RunErrorClass, message: string, options?: ErrorOptions) {
    super(maskCredentials(message), options);
    this.name = name;
  }
}

type ErrorKind<E extends Error> = string | (abstract new (...args: never[]) => E);

/**
 * Returns a handler for a rejected promise: `recover` gets an error of these kinds, and any other error is thrown again. A
 * kind is a class, or the name of an error.
 */
export function recoverFrom<R, E extends Error = Error>(
  kinds: ErrorKind<E> | readonly ErrorKind<E>[],
  recover: (error: E) => R,
): (error: unknown) => R {
  return (error) => {
    const isOf = (kind: ErrorKind<E>) =>
      typeof kind === "string" ? error instanceof Error && error.name === kind : error instanceof kind;
    if ([kinds].flat().some(isOf)) return recover(error as E);
    throw error;
  };
}

/** Builds the error for an impossible state of the chain: NOVA has a bug, or a person changed the table. */
export function chainBroken(message: string): NovaError {
  return new NovaError("ChainBroken", message);
}

/**
 * Thrown if DynamoDB or S3 did not answer in time; a write may or may not have happened. The retrier for `States.ALL`
 * repeats the task.
 */
export class StoreUnavailable extends Error {
  override name = "StoreUnavailable";
}

/** Thrown if a blob that an entry names was erased. */
export class BlobMissing extends Error {
  override name = "BlobMissing";
}

/** Thrown if a request needs contents of a run that were erased. */
export class ContentsErased extends Error {
  override name = "ContentsErased";

  constructor(execution: string) {
    super(`the contents of execution ${execution} were erased - nova trace ${execution} shows what is left`);
  }
}

/** Thrown if the body of a blob does not match its reference. */
export class BlobMismatch extends Error {
  override name = "BlobMismatch";
}
