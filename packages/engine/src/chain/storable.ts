import type { ExecutionError } from "../ports/executions.ts";

/** The SDK of DynamoDB refuses larger numbers and NaN. */
const largest = Number.MAX_SAFE_INTEGER;

/** The nearest number from 0 on that every store accepts; 0 for values that are not numbers. */
export function storableNumber(value: number): number {
  if (Number.isNaN(value) || typeof value !== "number") return 0;
  return Math.min(Math.max(value, 0), largest);
}

/** The limit of an error's message in the record of a run; the chain stores the whole message. */
const maxMessage = 20_000;

/** Shortens the message of an error, so that the record of the run fits its item. */
export function storableError(error: ExecutionError): ExecutionError {
  return { ...error, message: error.message.slice(0, maxMessage).toWellFormed() };
}
