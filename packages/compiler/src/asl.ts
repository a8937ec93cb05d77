/**
 * The part of the Amazon States Language (JSONPath, Standard) that workflows compile to, as plain data. What the
 * service refuses cannot be written: a state has `Next` or `End`, a rule of a Choice exactly one comparison.
 */
export interface StateMachine {
  Comment: string;
  StartAt: string;
  /** Limit of a whole execution. */
  TimeoutSeconds?: number;
  States: Record<string, State>;
}

export type State = PassState | TaskState | ChoiceState | FailState;

export type Transition = { Next: string; End?: never } | { End: true; Next?: never };

export type PassState = { Type: "Pass"; Comment?: string } & Transition;

export type TaskState = {
  Type: "Task";
  Comment?: string;
  /** ARN of a Lambda function's alias. */
  Resource: string;
  Parameters?: Parameters;
  TimeoutSeconds: number;
  Retry: readonly Retrier[];
  Catch?: readonly Catcher[];
} & Transition;

/** Keys that end in `.$` hold a path into the state's input, others a constant. */
export type Parameters = { readonly [key: string]: string };

export interface Retrier {
  ErrorEquals: readonly string[];
  MaxAttempts: number;
  IntervalSeconds?: number;
  BackoffRate?: number;
  MaxDelaySeconds?: number;
  JitterStrategy?: "FULL" | "NONE";
}

export interface Catcher {
  ErrorEquals: readonly string[];
  ResultPath: string;
  Next: string;
}

export interface ChoiceState {
  Type: "Choice";
  Comment?: string;
  /** At least one. */
  Choices: readonly [ChoiceRule, ...ChoiceRule[]];
  Default: string;
}

export type ChoiceRule = { Variable: string; Next: string } & (
  | { StringEquals: string; BooleanEquals?: never }
  | { BooleanEquals: boolean; StringEquals?: never }
);

export type FailState = { Type: "Fail"; Comment?: string } & (
  | { Error: string; Cause: string; ErrorPath?: never; CausePath?: never }
  | { ErrorPath: string; CausePath: string; Error?: never; Cause?: never }
);
