import type { Json } from "../../json.ts";
import type { LambdaResult } from "../../lambda-types.ts";

/** The purpose of a sleep: a Wait state, the time before a retry, or a time limit. */
export type Purpose = "wait" | "retry" | "deadline";

export interface LambdaCall {
  functionArn: string;
  /** JSON text. */
  payload: string;
  /** The payload contains a task token; the same call may be repeated. */
  handsOutToken: boolean;
  /** The line of states that calls. Its calls follow one another. */
  line: object;
}

/** A task that waits for its answer from outside. */
export interface PendingTask {
  readonly token: string;
  /** Settles with the answer; a rejection is a StateFailure. The token is valid until `over` aborts. */
  answer(over: AbortSignal): Promise<Json>;
}

export interface ChildStart {
  stateMachineArn: string;
  name: string;
  /** JSON text. */
  input: string;
}

export interface StartedChild {
  executionArn: string;
  startedAtMs: number;
}

/** The end of a child, in the fields of DescribeExecution; input and output are JSON text. */
export interface EndedChild {
  executionArn: string;
  stateMachineArn: string;
  name: string;
  status: string;
  startedAtMs: number;
  stoppedAtMs: number;
  input: string;
  output?: string | undefined;
  error?: string | undefined;
  cause?: string | undefined;
}

export interface ObjectPlace {
  bucket: string;
  key: string;
}

/** Reads the text of an object in S3. Rejects if there is none. */
export type ReadObject = (place: ObjectPlace) => Promise<string>;

/**
 * Everything that reaches an execution from outside its definition and input. With the same answers in the same order
 * an execution repeats all of its events. So a journal of the answers restores it.
 */
export interface Host {
  /** Milliseconds since the epoch. */
  now(): number;
  /** In [0, 1). */
  random(): number;
  uuid(): string;
  /** Resolves after `ms`, or as soon as `over` aborts. */
  sleep(ms: number, purpose: Purpose, over: AbortSignal): Promise<void>;
  /** Works like `InvokeLambda`; after `over` the result is dropped. */
  invokeLambda(call: LambdaCall, over: AbortSignal): Promise<LambdaResult>;
  issueToken(): PendingTask;
  /** Rejects with the API's error. */
  startExecution(child: ChildStart, over: AbortSignal): Promise<StartedChild>;
  /** Waits for the end of a child. If `over` aborts for a reason other than `DECIDED`, the child is stopped. */
  executionEnded(executionArn: string, over: AbortSignal): Promise<EndedChild>;
  /** Reads JSON from S3. Rejects if there is no object, or if it is not JSON. */
  readJson(place: ObjectPlace, over: AbortSignal): Promise<Json>;
}

/** The reason with which a task's `over` aborts after its result or timeout. */
export const DECIDED = "decided";

const SECRET_BYTES = 24;

/** Tokens contain their execution, so an expired token differs from an invalid one. */
export function tokenOf(executionArn: string, secret: Uint8Array): string {
  return Buffer.concat([secret.subarray(0, SECRET_BYTES), Buffer.from(executionArn)]).toString("base64");
}

export function executionOfToken(token: string): string {
  return Buffer.from(token, "base64").subarray(SECRET_BYTES).toString();
}
