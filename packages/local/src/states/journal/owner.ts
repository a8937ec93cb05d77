import type { Json } from "../../json.ts";
import type { LambdaResult } from "../../lambda-types.ts";
import type { Outcome } from "../asl/execute.ts";
import type { ChildStart, LambdaCall, ReadObject, StartedChild } from "../asl/host.ts";
import type { Line } from "../store/lines.ts";

/** Whoever keeps an execution, and does for it what it asks for. */
export interface Owner {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Takes a line for the execution's file. */
  write(line: Line): void;
  invokeLambda(call: LambdaCall, stopSignal: AbortSignal): Promise<LambdaResult>;
  /** The same request made once more answers the same child. @throws Error named as the failure that AWS reports */
  startChild(child: ChildStart, request: string): StartedChild;
  readObject: ReadObject;
  stopChild(executionArn: string): void;
  /** How a child ended; undefined while it runs. */
  endOfChild(executionArn: string): Json | undefined;
  /** It waits for what is to come. */
  onRest(): void;
  onEnd(outcome: Outcome): void;
  /** Where nothing can be written now: resolves when it may be tried again. */
  pause(): Promise<void> | undefined;
}
