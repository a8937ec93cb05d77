/** What the process of a function is sent. */
export interface Invocation {
  id: string;
  event: unknown;
}

/** As Lambda answers for a function that threw. */
export interface FunctionError {
  errorType: string;
  errorMessage: string;
  trace: string[];
}

/** How an invocation ended. */
export type Outcome = { answer: unknown } | { error: FunctionError };

/** What the process of a function sends back. */
export type Result = Outcome & { id: string };
