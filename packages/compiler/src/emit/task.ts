import { defined, type Retry, retryWaits, runErrors } from "@nova/workflow";
import type { Catcher, Parameters, Retrier, TaskState } from "../asl.ts";
import type { Target } from "../lower/plan.ts";
import { type Frame, transitionTo } from "./frame.ts";

/** AWS Lambda: the longest timeout of a function. */
const lambdaLimitSeconds = 900;

/** A Lambda task with the retriers of its node, followed by the common ones. */
export function lambdaTask(
  resource: string,
  details: { comment?: string | undefined; parameters?: Parameters; catchers?: Catcher[]; retry?: Retry | undefined },
  next: Target,
): TaskState {
  const { comment, parameters, catchers, retry } = details;
  return {
    Type: "Task",
    ...defined({ Comment: comment }),
    Resource: resource,
    ...defined({ Parameters: parameters }),
    TimeoutSeconds: lambdaLimitSeconds,
    Retry: retriersOf(retry),
    ...defined({ Catch: catchers }),
    ...transitionTo(next),
  };
}

/** The fields of a task that starts another execution and waits for its end. `place` is the path of its parameters. */
export function startExecutionFields(place: string): Pick<TaskState, "Resource" | "Parameters" | "Retry"> {
  return {
    Resource: "arn:aws:states:::states:startExecution.sync:2",
    Parameters: { "StateMachineArn.$": `${place}.arn`, "Name.$": `${place}.name`, "Input.$": `${place}.input` },
    Retry: childRetriers,
  };
}

/** The parameters for running and settling a node: the node, and the position of the run. */
export function nodeParameters(node: string): Parameters {
  return { node, ...position };
}

/** The parameters for a node that runs code: also the number of earlier retries of this state. */
export function codeParameters(node: string): Parameters {
  return { ...nodeParameters(node), "retries.$": "$$.State.RetryCount" };
}

/** The position of a run in its chain. */
export const position: Parameters = { "execution.$": "$.execution", "scope.$": "$.scope", "seq.$": "$.seq" };

/** A closed run goes straight to its Fail. Every other error goes to `next`, with the position that the state had. */
export function catchTo(next: string, { closed }: Frame): Catcher[] {
  return [
    { ErrorEquals: ["ExecutionClosed"], ResultPath: "$.error", Next: closed },
    { ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: next },
  ];
}

type Policy = (typeof runErrors)[keyof typeof runErrors]["retry"];

/** Retries immediately: the next delivery attaches to the running code. 10 deliveries of 900 s outlast any code. */
const atOnce = { IntervalSeconds: 1, MaxAttempts: 10, BackoffRate: 1 };

/** About 30 minutes: 65 attempts, at most 60 s apart; full jitter halves the pauses on average. */
const patient = {
  IntervalSeconds: 1,
  MaxAttempts: 65,
  BackoffRate: 2,
  MaxDelaySeconds: 60,
  JitterStrategy: "FULL",
} as const;

/** A dead Lambda, throttling, unavailable stores: the claim makes another delivery safe. */
const anythingElse = {
  ErrorEquals: ["States.ALL"],
  IntervalSeconds: 1,
  MaxAttempts: 8,
  BackoffRate: 2,
  MaxDelaySeconds: 30,
  JitterStrategy: "FULL",
} as const;

/**
 * The `Retry` of every task, from the table of run errors. Step Functions tries retriers in order, so `States.ALL` must
 * be last.
 */
export const retriers: readonly Retrier[] = retriersWith(errorsWith("never"));

/** Retriers of a node with `retry`: Step Functions waits, and the engine decides whether another attempt follows. */
function retriersOf(retry: Retry | undefined): readonly Retrier[] {
  // Without a second attempt, the error of this retrier is never thrown.
  if (!retry || retry.attempts < 2) return retriers;
  const { interval, backoff, longest } = retryWaits(retry);
  const own: Retrier = {
    ErrorEquals: errorsWith("as the node says"),
    IntervalSeconds: interval,
    MaxAttempts: retry.attempts - 1,
    BackoffRate: backoff,
    ...(backoff > 1 && { MaxDelaySeconds: longest }),
    ...(retry.jitter && { JitterStrategy: "FULL" }),
  };
  return [own, ...retriers];
}

/** Retriers of a task that waits for an answer. Its timeout is an outcome, and a retry would double it. */
export const untimedRetriers: readonly Retrier[] = retriersWith([...errorsWith("never"), "States.Timeout"]);

/** A task that starts another execution must not repeat a finished execution of the same name. */
const isThereAlready = { ErrorEquals: ["StepFunctions.ExecutionAlreadyExistsException"], MaxAttempts: 0 };
const childRetriers: readonly Retrier[] = [isThereAlready, anythingElse];

function retriersWith(never: string[]): Retrier[] {
  return [
    { ErrorEquals: never, MaxAttempts: 0 },
    { ErrorEquals: errorsWith("at once"), ...atOnce },
    { ErrorEquals: errorsWith("patient"), ...patient },
    anythingElse,
  ];
}

function errorsWith(policy: Policy): string[] {
  return Object.entries(runErrors).flatMap(([name, error]) => (error.retry === policy ? [name] : []));
}
