import type { ExecutionError, Spending } from "../ports/executions.ts";

const nothing: Spending = { cost_usd: 0, tokens_input: 0, tokens_cached: 0, tokens_output: 0 };
/** Sums of dollars are rounded to billionths, because sums of fractions would otherwise get meaningless digits. */
const billionth = 1e9;

export function sumOfSpendings(spendings: readonly Spending[]): Spending {
  return spendings.reduce((sum, spending) => combine(sum, spending, 1), nothing);
}

/** Adds two spendings. Returns undefined if both are undefined, because entries then omit the field. */
export function addSpendings(before: Spending | undefined, more: Spending | undefined): Spending | undefined {
  return before && more ? combine(before, more, 1) : (before ?? more);
}

export function spentSince(before: Spending | undefined, after: Spending | undefined): Spending {
  return combine(after ?? nothing, before ?? nothing, -1);
}

export function unlessNothing(spending: Spending): Spending | undefined {
  return Object.values(spending).some((value) => value !== 0) ? spending : undefined;
}

/**
 * Adds or subtracts two spendings. The counts come from the answers of models, so this function limits them: if the
 * store refused a number, the run could not be closed.
 */
function combine(a: Spending, b: Spending, sign: 1 | -1): Spending {
  const sum = (name: keyof Spending) => storableNumber(storableNumber(a[name]) + sign * storableNumber(b[name]));
  return {
    cost_usd: storableNumber(Math.round(sum("cost_usd") * billionth) / billionth),
    tokens_input: sum("tokens_input"),
    tokens_cached: sum("tokens_cached"),
    tokens_output: sum("tokens_output"),
  };
}

/** The largest number that is stored: the SDK of DynamoDB refuses larger numbers and NaN. */
const largest = Number.MAX_SAFE_INTEGER;

/**
 * Returns the number, limited to the range from 0 to `largest` that every store accepts; 0 for a value that is no
 * number.
 */
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
