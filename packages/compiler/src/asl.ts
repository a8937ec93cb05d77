/** The part of the Amazon States Language (JSONPath, Standard) that workflows compile to, as plain data. */
export interface StateMachine {
  Comment: string;
  StartAt: string;
  TimeoutSeconds?: number;
  States: States;
}

export type States = Record<string, State>;
export type State = PassState | TaskState | ChoiceState | WaitState | FailState | ParallelState | MapState;

/**
 * The next state, or the end of the machine. `OutputPath: null` replaces the output by `{}`. Otherwise thousands of
 * unused outputs would exceed the data limit of Step Functions.
 */
export type Transition =
  | { Next: string; End?: never; OutputPath?: never }
  | { End: true; OutputPath?: null; Next?: never };

export type PassState = { Type: "Pass"; Comment?: string; Parameters?: Parameters } & Transition;

export type TaskState = {
  Type: "Task";
  Comment?: string;
  /** ARN of a Lambda alias, or of the integration that waits for a task token or for another execution. */
  Resource: string;
  Parameters?: Parameters;
  TimeoutSeconds?: number;
  /** `null` discards the result of the task, so the input of the state becomes its output. */
  ResultPath?: null;
  Retry: readonly Retrier[];
  Catch?: readonly Catcher[];
} & (Transition | { End: true; OutputPath: "$.Output"; Next?: never });

/**
 * The input of a task. The value of a key that ends in `.$` is a path into the input of the state, or a call of an
 * intrinsic function. All other values are constants.
 */
export type Parameters = { readonly [key: string]: string | number | boolean | Parameters };

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
  Choices: readonly [ChoiceRule, ...ChoiceRule[]];
  Default: string;
}

export type ChoiceRule = { Next: string } & (Comparison | { And: readonly [Comparison, ...Comparison[]] });

export type Comparison = { Variable: string } & (
  | { StringEquals: string; BooleanEquals?: never; IsPresent?: never }
  | { BooleanEquals: boolean; StringEquals?: never; IsPresent?: never }
  | { IsPresent: true; StringEquals?: never; BooleanEquals?: never }
);

export type WaitState = { Type: "Wait"; Next: string } & (
  | { TimestampPath: string; SecondsPath?: never }
  | { SecondsPath: string; TimestampPath?: never }
);

/** The states of a parallel branch, or of each item of a Map. State names must be unique in the whole state machine. */
export interface Branch {
  StartAt: string;
  States: States;
}

interface Together {
  Comment?: string;
  ResultPath: null;
  Catch: readonly Catcher[];
  Next: string;
}

export interface ParallelState extends Together {
  Type: "Parallel";
  Branches: readonly Branch[];
}

interface OverItems extends Together {
  Type: "Map";
  ItemSelector: Parameters;
  MaxConcurrency: number;
}

export type MapState = InlineMapState | DistributedMapState;

/** A Map that runs its items in the same execution. The history of this execution contains the events of all items. */
export interface InlineMapState extends OverItems {
  ItemsPath: string;
  ItemReader?: never;
  ItemProcessor: Branch & { ProcessorConfig: { Mode: "INLINE" } };
}

/** A Map that runs each item in a separate execution. It reads the list of items from S3. */
export interface DistributedMapState extends OverItems {
  ItemsPath?: never;
  ItemReader: { Resource: string; ReaderConfig: { InputType: "JSON" }; Parameters: Parameters };
  Label?: string;
  ItemProcessor: Branch & { ProcessorConfig: { Mode: "DISTRIBUTED"; ExecutionType: "STANDARD" } };
}

export type FailState = { Type: "Fail"; Comment?: string } & (
  | { Error: string; Cause: string; ErrorPath?: never; CausePath?: never }
  | { ErrorPath: string; CausePath: string; Error?: never; Cause?: never }
);
