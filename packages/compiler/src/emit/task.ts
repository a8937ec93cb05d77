import { defaultLabel, defined, type Retry, retryWaits, runErrors } from "@nova/workflow";
import type { Catcher, ChoiceRule, ChoiceState, Parameters, Retrier, States, TaskState } from "../asl.ts";
import type { Decides, Failable, Target } from "../lower.ts";
import { type Frame, stateOf, transitionTo } from "./frame.ts";

/** The longest timeout of a function in AWS Lambda. */
const lambdaLimitSeconds = 900;

/** Emits a Lambda task. The retriers of its node precede the retriers that every task has. */
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

/**
 * Returns the fields of a task that starts another execution and waits for its end. The parameters of the task are at
 * the path `place` of its input.
 */
export function startExecutionFields(place: string): Pick<TaskState, "Resource" | "Parameters" | "Retry"> {
  return {
    Resource: "arn:aws:states:::states:startExecution.sync:2",
    Parameters: { "StateMachineArn.$": `${place}.arn`, "Name.$": `${place}.name`, "Input.$": `${place}.input` },
    Retry: childRetriers,
  };
}

/** Returns the parameters of a task that runs or settles a node: the node, and the position of the run. */
export function nodeParameters(node: string): Parameters {
  return { node, ...position };
}

/**
 * Returns the parameters of a task that runs code: those of any node, and the number of earlier retries of the task.
 */
export function codeParameters(node: string): Parameters {
  return { ...nodeParameters(node), "retries.$": "$$.State.RetryCount" };
}

/** The parameters that say where a run is in its chain of work. */
export const position: Parameters = { "execution.$": "$.execution", "scope.$": "$.scope", "seq.$": "$.seq" };

/**
 * Returns catchers that lead from a closed run to the Fail state, and from every other error to `next`. The catchers
 * add the error to the input of that state.
 */
export function catchTo(next: string, { closed }: Frame): Catcher[] {
  return [
    { ErrorEquals: ["ExecutionClosed"], ResultPath: "$.error", Next: closed },
    { ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: next },
  ];
}

type Policy = (typeof runErrors)[keyof typeof runErrors]["retry"];

/**
 * Retries immediately, because the next delivery attaches to the running code. Ten deliveries of 900 s last longer than
 * any code for which a Lambda waits.
 */
const atOnce = { IntervalSeconds: 1, MaxAttempts: 10, BackoffRate: 1 };

/** Retries for about 30 minutes: 65 attempts, at most 60 s apart. Full jitter halves the pauses on average. */
const patient = {
  IntervalSeconds: 1,
  MaxAttempts: 65,
  BackoffRate: 2,
  MaxDelaySeconds: 60,
  JitterStrategy: "FULL",
} as const;

/**
 * Retries after the death of a Lambda, throttling or an error of a store. A second delivery is safe: the claim lets
 * only one delivery start the code.
 */
const anythingElse = {
  ErrorEquals: ["States.ALL"],
  IntervalSeconds: 1,
  MaxAttempts: 8,
  BackoffRate: 2,
  MaxDelaySeconds: 30,
  JitterStrategy: "FULL",
} as const;

/** The `Retry` of every task. Step Functions tries retriers in order, so `States.ALL` must be last. */
const retriers: readonly Retrier[] = retriersWith(errorsWith("never"));

/** Retriers of a node with `retry`: Step Functions waits, and the engine decides whether another attempt follows. */
function retriersOf(retry: Retry | undefined): readonly Retrier[] {
  // A node with a single attempt never throws `NodeRetry`, so it needs no retrier of its own.
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

/**
 * Retriers of a task that waits for an answer. They do not retry the timeout of the task: a timeout is an outcome, and
 * a retry would double the wait.
 */
export const untimedRetriers: readonly Retrier[] = retriersWith([...errorsWith("never"), "States.Timeout"]);

/** Does not retry a start if an execution with this name already exists, because the child must not run twice. */
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

type Node = Failable & { id: string };

/**
 * Returns the state to which the failed task of a node leads: the settle of the node. A node of the main line without
 * `onError` has no settle, so its task leads to the close of the run.
 */
export function afterFailure(node: Node, frame: Frame): string {
  return isSettled(node, frame) ? stateOf(node.id, "settle") : frame.unsettled;
}

/**
 * Emits the settle of a node, and a Choice that follows its result: the chain may have a success although Step
 * Functions saw a failure.
 */
export function settleStates(
  node: Node,
  rules: readonly ChoiceRule[],
  own: string,
  frame: Frame,
  more: Parameters = {},
): States {
  if (!isSettled(node, frame)) return {};
  const parameters = { ...nodeParameters(node.id), ...more, "error.$": "$.error" };
  const settled = stateOf(node.id, "settled");
  return {
    [stateOf(node.id, "settle")]: settleTask(parameters, settled, frame),
    [settled]: settledChoice(failureTarget(node.onError, frame), rules, own),
  };
}

/** Emits the task that reads the node's outcome from the chain. */
export function settleTask(parameters: Parameters, next: string, frame: Frame): TaskState {
  return lambdaTask(frame.functions.settleNode, { parameters, catchers: catchTo(frame.unsettled, frame) }, next);
}

/**
 * Emits the Choice after a settle: a failure leads to `failed`, a decision to the state that `rules` name for it, and
 * any other success to `own`.
 */
export function settledChoice(failed: string, rules: readonly ChoiceRule[], own: string): ChoiceState {
  const isFailed = { Variable: "$.failed", BooleanEquals: true, Next: failed };
  return { Type: "Choice", Choices: [isFailed, ...rules], Default: own };
}

export function failureTarget(onError: Target | undefined, frame: Frame): string {
  return onError === undefined ? frame.failed : (onError ?? frame.done);
}

function isSettled({ onError }: Node, { settles }: Frame): boolean {
  return settles || onError !== undefined;
}

interface Branching {
  rules: [ChoiceRule, ...ChoiceRule[]];
  otherwise: string;
}

/** Returns the edges of a decision or approval as rules that compare the decision in its entry. */
export function branchingOf({ branches, otherwise }: Decides, frame: Frame): Branching {
  const rest = otherwise === undefined ? frame.unfit : (otherwise ?? frame.done);
  const own = branches.map(({ label, target }) => ruleFor(label, target ?? frame.done));
  const leadsBack = branches.some(({ max }) => max !== undefined);
  const [first, ...others] = [...(leadsBack ? furtherRules(frame) : []), ...own];
  // Step Functions requires a rule in every Choice, so a default edge without other edges becomes a rule.
  return { rules: first ? [first, ...others] : [ruleFor(defaultLabel, rest)], otherwise: rest };
}

/** Emits the Choice that follows the task of a decision or approval. */
export function branchStates(node: Decides, { rules, otherwise }: Branching): States {
  return { [stateOf(node.id, "branch")]: { Type: "Choice", Choices: rules, Default: otherwise } };
}

/**
 * Returns the rule that lets a loop continue in a further execution instead of going back, if the history is nearly
 * full.
 */
export function furtherRules({ further }: Frame): ChoiceRule[] {
  if (further === undefined) return [];
  return [{ Variable: "$.continuation", IsPresent: true, Next: further }];
}

function ruleFor(label: string, target: string): ChoiceRule {
  return { Variable: "$.decision", StringEquals: label, Next: target };
}
