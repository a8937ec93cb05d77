import { defined, type Retry, retryWaits, runErrors } from "@nova/workflow";
import type { Catcher, Parameters, Retrier, TaskState } from "../asl.ts";
import type { Way } from "../lower/plan.ts";
import { type Frame, goOn } from "./frame.ts";

/** The longest that AWS Lambda lets a function run. */
const lambdaLimitSeconds = 900;

/** A Lambda task, with the retries that every one of ours has, behind those of its node. */
export function lambdaTask(
  resource: string,
  details: { comment?: string | undefined; parameters?: Parameters; catchers?: Catcher[]; retry?: Retry | undefined },
  next: Way,
): TaskState {
  const { comment, parameters, catchers, retry } = details;
  return {
    ...{ Type: "Task", ...defined({ Comment: comment }), Resource: resource, ...defined({ Parameters: parameters }) },
    ...{ TimeoutSeconds: lambdaLimitSeconds, Retry: retriersOf(retry), ...defined({ Catch: catchers }), ...goOn(next) },
  };
}

/** Of a task that starts another execution and waits for its end: which one is said at `place`. */
export function anotherRun(place: string): Pick<TaskState, "Resource" | "Parameters" | "Retry"> {
  return {
    Resource: "arn:aws:states:::states:startExecution.sync:2",
    Parameters: { "StateMachineArn.$": `${place}.arn`, "Name.$": `${place}.name`, "Input.$": `${place}.input` },
    Retry: childRetriers,
  };
}

/** What running and settling a node need: who, and the link directly before. */
export function nodeParameters(node: string): Parameters {
  return { node, ...position };
}

/** The same for a node that runs code, whose chain of work says how often it came to nothing before. */
export function codeParameters(node: string): Parameters {
  return { ...nodeParameters(node), "retries.$": "$$.State.RetryCount" };
}

/** Where a run is. */
export const position: Parameters = { "execution.$": "$.execution", "scope.$": "$.scope", "seq.$": "$.seq" };

/** A run that was closed meanwhile goes straight to its Fail; everything else goes to `next`, with the link it knew. */
export function catchTo(next: string, { closed }: Frame): Catcher[] {
  return [
    { ErrorEquals: ["ExecutionClosed"], ResultPath: "$.error", Next: closed },
    { ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: next },
  ];
}

type Policy = (typeof runErrors)[keyof typeof runErrors]["retry"];

/** Asks again at once: the next delivery attaches to the code that runs on. 10 deliveries of 900 s outlast any code. */
const atOnce = { IntervalSeconds: 1, MaxAttempts: 10, BackoffRate: 1 };

/** About 30 minutes: 65 tries, at most 60 s apart, full jitter halves them on average. */
const patient = {
  IntervalSeconds: 1,
  MaxAttempts: 65,
  BackoffRate: 2,
  MaxDelaySeconds: 60,
  JitterStrategy: "FULL",
} as const;

/** Lambda that died, throttling, stores that do not answer: the claim makes running again safe. */
const anythingElse = {
  ErrorEquals: ["States.ALL"],
  IntervalSeconds: 1,
  MaxAttempts: 8,
  BackoffRate: 2,
  MaxDelaySeconds: 30,
  JitterStrategy: "FULL",
} as const;

/** The `Retry` of every task, from the one table of run errors. Retriers are tried in order; `States.ALL` must be last. */
export const retriers: readonly Retrier[] = retriersWith(errorsWith("never"));

/** Of a node with `retry`: Step Functions waits, the engine says whether another attempt follows. */
function retriersOf(retry: Retry | undefined): readonly Retrier[] {
  // One that can never be thrown would be of no use.
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

/** Of a task that waits for an answer: its timeout is an outcome, and asking a second time would double it. */
export const untimedRetriers: readonly Retrier[] = retriersWith([...errorsWith("never"), "States.Timeout"]);

/** Of a task that starts another execution: one of that name that is over cannot be started, and is not to be. */
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
