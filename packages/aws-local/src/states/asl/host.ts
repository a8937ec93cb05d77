import type { Json } from "../../json.ts";
import type { LambdaResult } from "../../lambda-types.ts";

/** What a sleep is for: a Wait state, the time before a retry, or a limit to something else. */
export type Purpose = "wait" | "retry" | "deadline";

export interface LambdaCall {
  functionArn: string;
  /** JSON text. */
  payload: string;
  /** The function is given a task token: it may be called once more with the same one. */
  handsOutToken: boolean;
  /** The line of states that calls: its calls come one after another. */
  line: object;
}

/** One task that waits for its answer from outside. */
export interface PendingTask {
  readonly token: string;
  /** Settles with the answer; a rejection is a StateFailure. The token is good until `over` aborts. */
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

/** How a child ended, as DescribeExecution tells it; input and output are JSON text. */
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

/** Text of an object in S3. Rejects where there is none. */
export type ReadObject = (place: ObjectPlace) => Promise<string>;

/**
 * All that reaches an execution from outside its definition and its input. Given the same answers in the same order
 * it goes the same way, event by event: so a journal of them is all it takes to bring it back to where it was.
 */
export interface Host {
  /** Milliseconds since the epoch. */
  now(): number;
  /** In [0, 1). */
  random(): number;
  uuid(): string;
  /** Resolves after `ms`, or as soon as `over` aborts. */
  sleep(ms: number, purpose: Purpose, over: AbortSignal): Promise<void>;
  /** As `InvokeLambda`; after `over` nobody hears the answer. */
  invokeLambda(call: LambdaCall, over: AbortSignal): Promise<LambdaResult>;
  issueToken(): PendingTask;
  /** Rejects with the API's error. */
  startExecution(child: ChildStart, over: AbortSignal): Promise<StartedChild>;
  /** An `over` that is no decision of the task itself stops the child. */
  executionEnded(executionArn: string, over: AbortSignal): Promise<EndedChild>;
  /** An object in S3 that holds JSON. Rejects where there is none, or it holds something else. */
  readJson(place: ObjectPlace, over: AbortSignal): Promise<Json>;
}

/** Why a task's `over` aborts when the task is decided: with its result, or by its timeout. */
export const DECIDED = "decided";

const SECRET_BYTES = 24;

/** Tokens name their execution, so that one which is no longer awaited can be told from one that never was. */
export function tokenOf(executionArn: string, secret: Uint8Array): string {
  return Buffer.concat([secret.subarray(0, SECRET_BYTES), Buffer.from(executionArn)]).toString("base64");
}

export function executionOfToken(token: string): string {
  return Buffer.from(token, "base64").subarray(SECRET_BYTES).toString();
}
