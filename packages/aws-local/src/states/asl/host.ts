import type { Json } from "../../json.ts";
import type { LambdaResult } from "../../lambda-types.ts";

/** The purpose of a sleep: a Wait state, the time before a retry, or a time limit. */
export type Purpose = "wait" | "retry" | "deadline";

export interface LambdaCall {
  functionArn: string;
  /** JSON text. */
  payload: string;
  /** Whether the payload contains a task token. After a crash, the next process repeats such a call. */
  handsOutToken: boolean;
  /**
   * Identifies the line that makes the call. A line is a sequence of states of an execution: the main sequence, a
   * branch, or an iteration of a Map. A line makes one call after the other.
   */
  line: object;
}

/** A task with a token. It waits until SendTaskSuccess or SendTaskFailure answers it. */
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

/** The end of an execution that another one started (a child). Input and output are JSON text. */
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
 * Gives an execution everything that does not follow from its definition and input: time, random numbers and answers.
 * An execution that gets the same values in the same order repeats all of its events. So a journal of these values
 * restores the execution.
 */
export interface Host {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Returns a number in [0, 1). */
  random(): number;
  uuid(): string;
  /** Resolves after `ms`, or as soon as `over` aborts. */
  sleep(ms: number, purpose: Purpose, over: AbortSignal): Promise<void>;
  /** Invokes a function, like `InvokeLambda`. A result that arrives after `over` has aborted is dropped. */
  invokeLambda(call: LambdaCall, over: AbortSignal): Promise<LambdaResult>;
  issueToken(): PendingTask;
  /** Starts another execution. Rejects with the error that StartExecution returns. */
  startExecution(child: ChildStart, over: AbortSignal): Promise<StartedChild>;
  /** Waits for the end of a child. If `over` aborts for a reason other than `DECIDED`, the child is stopped. */
  executionEnded(executionArn: string, over: AbortSignal): Promise<EndedChild>;
  /** Reads JSON from S3. Rejects if there is no object, or if it is not JSON. */
  readJson(place: ObjectPlace, over: AbortSignal): Promise<Json>;
}

/**
 * The abort reason of the signal `over` if a task has its result or has timed out. Any other reason means that the task
 * was cancelled.
 */
export const DECIDED = "decided";

const SECRET_BYTES = 24;

/**
 * Creates a task token. It contains the ARN of the execution, so the server can tell an expired token from an invalid
 * one.
 */
export function tokenOf(executionArn: string, secret: Uint8Array): string {
  return Buffer.concat([secret.subarray(0, SECRET_BYTES), Buffer.from(executionArn)]).toString("base64");
}

export function executionOfToken(token: string): string {
  return Buffer.from(token, "base64").subarray(SECRET_BYTES).toString();
}
