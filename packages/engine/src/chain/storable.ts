import type { ExecutionError } from "../ports/executions.ts";

/** The SDK of DynamoDB refuses larger numbers, and those that are none. */
const largest = Number.MAX_SAFE_INTEGER;

/** The nearest number from 0 on that every store takes; 0 where there is no number. */
export function storableNumber(value: number): number {
  if (Number.isNaN(value) || typeof value !== "number") return 0;
  return Math.min(Math.max(value, 0), largest);
}

/** Characters of an error that its record has; the chain has all of them. */
const maxMessage = 20_000;

/** An error as the record of its run has it: the record fits its item, however long the message is. */
export function storableError(error: ExecutionError): ExecutionError {
  return { ...error, message: error.message.slice(0, maxMessage).toWellFormed() };
}
