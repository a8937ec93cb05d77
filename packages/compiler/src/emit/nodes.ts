import { defaultLabel, defined, type Retry, retryWaits, runErrors } from "@nova/workflow";
import type { Catcher, ChoiceRule, ChoiceState, Parameters, Retrier, States, TaskState } from "../asl.ts";
import type {
  Decides,
  Failable,
  PlannedAction,
  PlannedApproval,
  PlannedDecision,
  PlannedTask,
  PlannedWait,
  PlannedWorkflow,
  Target,
} from "../lower.ts";
import { type Frame, stateAfter, stateOf, transitionTo } from "./frame.ts";

/** The longest timeout of a function in AWS Lambda. */
const lambdaLimitSeconds = 900;

/** Emits a Lambda task. The retriers of the node precede the retriers that every task has. */
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
 * Returns the parameters of a task that runs code: the parameters of every node, and the number of earlier retries of
 * the task.
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
 * Retries after one second, because the next delivery attaches to the running code. Ten deliveries of 900 s last longer
 * than any code for which a Lambda waits.
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

/**
 * Returns the retriers of a node. For a node with `retry`, Step Functions waits, and the engine decides whether another
 * attempt follows.
 */
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
 * Returns the state to which the failed task of a node leads: the state that settles the node. A node of the main line
 * without `onError` has no such state, so its task leads to the close of the run.
 */
export function afterFailure(node: Node, frame: Frame): string {
  return isSettled(node, frame) ? stateOf(node.id, "settle") : frame.unsettled;
}

/**
 * Emits the task that settles a node, and a Choice that follows the result of this task. The chain may have a success
 * although Step Functions saw a failure.
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
 * Emits the Choice after a settle. A failure leads to `failed`, a decision leads to the state that `rules` name for
 * this decision, and any other success leads to `own`.
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

/**
 * Returns the edges of a decision or approval as rules. Each rule compares the decision in the entry of the node with
 * the label of an edge.
 */
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
 * Returns the rule for a loop whose history is nearly full. Instead of leading back, this rule lets the loop continue
 * in a further execution. Returns no rule if loops of the frame cannot continue so.
 */
export function furtherRules({ further }: Frame): ChoiceRule[] {
  if (further === undefined) return [];
  return [{ Variable: "$.continuation", IsPresent: true, Next: further }];
}

function ruleFor(label: string, target: string): ChoiceRule {
  return { Variable: "$.decision", StringEquals: label, Next: target };
}

/** Emits the task that waits for a person, and then a Choice that follows the answer in the chain. */
export function emitApproval(node: PlannedApproval, frame: Frame): States {
  const branching = branchingOf(node, frame);
  return {
    ...pendingStates(node, { next: stateOf(node.id, "branch"), ...branching }, frame),
    ...branchStates(node, branching),
  };
}

export function emitWait(node: PlannedWait, frame: Frame): States {
  const next = stateAfter(node);
  const { timeoutSeconds } = node;
  if (timeoutSeconds === undefined) return untilStates(node, frame);
  return pendingStates({ ...node, timeoutSeconds }, { next, rules: [], otherwise: next ?? frame.done }, frame);
}

/**
 * Emits a wait until a time: one task returns the time, a Wait state waits until this time, and a second task writes
 * the entry.
 */
function untilStates(node: PlannedWait, frame: Frame): States {
  const waited = stateOf(node.id, "waited");
  const pause = { [stateOf(node.id, "wait")]: { Type: "Wait", TimestampPath: "$.until", Next: waited } as const };
  return aroundStates(node, pause, waited, frame);
}

/**
 * Emits three tasks. The first one names the child execution. The second one lets Step Functions run the child and wait
 * for its end. The third one reads the chain of the child.
 */
export function emitWorkflowNode(node: PlannedWorkflow, frame: Frame): States {
  const done = stateOf(node.id, "done");
  return aroundStates(node, { [stateOf(node.id, "run")]: childTask(done) }, done, frame);
}

/**
 * Emits the states of a node in order: the task that starts the node, `middle`, the task `after` that ends the node,
 * and the states that settle the node.
 */
function aroundStates(node: PlannedWait | PlannedWorkflow, middle: States, after: string, frame: Frame): States {
  const { runNode } = frame.functions;
  const next = stateAfter(node);
  const catchers = catchTo(afterFailure(node, frame), frame);
  const parameters = nodeParameters(node.id);
  const [begun = ""] = Object.keys(middle);
  return {
    [node.id]: lambdaTask(runNode, { comment: node.comment, parameters, catchers }, begun),
    ...middle,
    [after]: lambdaTask(runNode, { parameters: { ...parameters, waited: true }, catchers }, next),
    ...settleStates(node, [], next ?? frame.done, frame),
  };
}

/**
 * Emits the task that runs the child and waits for it. If Step Functions stops this run, it also stops the child. The
 * task has no timeout: only the child's own workflow limits its time.
 */
function childTask(done: string): TaskState {
  return {
    Type: "Task",
    ...startExecutionFields("$.child"),
    ResultPath: null,
    Catch: [{ ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: done }],
    Next: done,
  };
}

/** A node that waits for the answer of a person or an event. */
interface Pending extends Failable {
  id: string;
  comment?: string;
  timeoutSeconds: number;
}

/** The states that may follow a node after the answer to this node is in the chain. */
interface Answered {
  next: Target;
  /**
   * The rules of the Choice after a settle. Each rule leads from one decision to the target of an edge. If no rule
   * matches, `otherwise` follows.
   */
  rules: readonly ChoiceRule[];
  otherwise: string;
}

/**
 * Emits a task that waits until NOVA returns the token of the task. If the timeout of the task ends the wait, an answer
 * that is already in the chain still counts.
 */
function pendingStates(node: Pending, { next, rules, otherwise }: Answered, frame: Frame): States {
  const settled = stateOf(node.id, "settled");
  return {
    [node.id]: tokenTask(node, next, frame),
    [stateOf(node.id, "expired")]: settleTask({ ...nodeParameters(node.id), expired: true }, settled, frame),
    ...settleStates(node, rules, otherwise, frame),
    [settled]: settledChoice(failureTarget(node.onError, frame), rules, otherwise),
  };
}

function tokenTask(node: Pending, next: Target, frame: Frame): TaskState {
  const expiry = { ErrorEquals: ["States.Timeout"], ResultPath: "$.error", Next: stateOf(node.id, "expired") };
  return {
    Type: "Task",
    ...defined({ Comment: node.comment }),
    Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
    Parameters: {
      FunctionName: frame.functions.requestApproval,
      Payload: { ...nodeParameters(node.id), "token.$": "$$.Task.Token" },
    },
    TimeoutSeconds: node.timeoutSeconds,
    Retry: untimedRetriers,
    Catch: catchTo(afterFailure(node, frame), frame).toSpliced(1, 0, expiry),
    ...transitionTo(next),
  };
}

export function emitAction(node: PlannedAction, frame: Frame): States {
  const next = stateAfter(node);
  const behind = next ?? frame.done;
  return { ...codeStates(node, next, behind, frame), ...settleStates(node, [], behind, frame) };
}

/**
 * Emits the task that decides, and then a Choice that follows the decision in the entry. If the decision matches no
 * edge, the run fails.
 */
export function emitDecision(node: PlannedDecision, frame: Frame): States {
  const branching = branchingOf(node, frame);
  const branch = stateOf(node.id, "branch");
  return {
    ...codeStates(node, branch, branch, frame),
    ...branchStates(node, branching),
    ...settleStates(node, branching.rules, branching.otherwise, frame),
  };
}

/**
 * Emits the task of a node that runs code. If the code may outlive a Lambda, the state machine repeats the task, with
 * pauses, until the code ends.
 */
function codeStates(node: PlannedTask & Failable, next: Target, behind: string, frame: Frame): States {
  const { id, comment, retry, looks } = node;
  const [running, pause] = [stateOf(id, "running"), stateOf(id, "pause")];
  const catchers = catchTo(afterFailure(node, frame), frame);
  const details = { comment, parameters: codeParameters(id), catchers, retry };
  const task = lambdaTask(frame.functions.runNode, details, looks === undefined ? next : running);
  if (looks === undefined) return { [id]: task };
  return {
    [id]: task,
    [running]: { Type: "Choice", Choices: [{ Variable: "$.running", IsPresent: true, Next: pause }], Default: behind },
    [pause]: { Type: "Wait", SecondsPath: "$.pause", Next: id },
  };
}
