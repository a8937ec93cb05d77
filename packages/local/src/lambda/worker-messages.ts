import type { LambdaResult } from "../lambda-types.ts";
import type { Invocation } from "./call-handler.ts";

/** From the pool to a worker, one at a time: a worker is to one invocation what a Lambda's execution environment is. */
export type ToWorker = Invocation;

export type FromWorker =
  /** The module is loaded; how long each of its functions may run. */
  | { ready: Record<string, number> }
  | { answer: LambdaResult }
  /** The module could not be loaded. */
  | { broken: LambdaResult };
