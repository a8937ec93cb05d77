/** A message to the process of a function. */
export interface Invocation {
  id: string;
  event: unknown;
}

/** Lambda's answer for a function that threw. */
export interface FunctionError {
  errorType: string;
  errorMessage: string;
  trace: string[];
}

/** The answer or the error of an invocation. */
export type Outcome = { answer: unknown } | { error: FunctionError };

/** A message from the process of a function. */
export type Result = Outcome & { id: string };
