import { defaultLabel } from "@nova/workflow";
import type { ChoiceRule, ChoiceState, Parameters, States, TaskState } from "../asl.ts";
import type { Decides, Failable, Target } from "../lower/plan.ts";
import { type Frame, stateOf } from "./frame.ts";
import { catchTo, lambdaTask, nodeParameters } from "./task.ts";

type Node = Failable & { id: string };

/**
 * Returns the target of a node's Catch: its settle. On the main line without `onError` it is the close, which settles.
 */
export function afterFailure(node: Node, frame: Frame): string {
  return isSettled(node, frame) ? stateOf(node.id, "settle") : frame.unsettled;
}

/** Emits the settle of a node, then a Choice: the chain may have a success although Step Functions saw a failure. */
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

/** Emits the Choice after a settle state. */
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

export interface Branching {
  rules: [ChoiceRule, ...ChoiceRule[]];
  otherwise: string;
}

/** Returns the edges of a node that decides, as rules over the committed decision. */
export function branchingOf({ branches, otherwise }: Decides, frame: Frame): Branching {
  const rest = otherwise === undefined ? frame.unfit : (otherwise ?? frame.done);
  const own = branches.map(({ label, target }) => ruleFor(label, target ?? frame.done));
  const [first, ...others] = [...furtherRules(branches, frame), ...own];
  // A Choice must have a rule even if the default edge is the only one.
  return { rules: first ? [first, ...others] : [ruleFor(defaultLabel, rest)], otherwise: rest };
}

/** Emits the Choice that directly follows the task. */
export function branchStates(node: Decides, { rules, otherwise }: Branching): States {
  return { [stateOf(node.id, "branch")]: { Type: "Choice", Choices: rules, Default: otherwise } };
}

/** Returns the rule for a nearly full history: the loop continues in a further execution instead of going back. */
function furtherRules(branches: Decides["branches"], { further }: Frame): ChoiceRule[] {
  if (further === undefined || branches.every(({ max }) => max === undefined)) return [];
  return [{ Variable: "$.continuation", IsPresent: true, Next: further }];
}

function ruleFor(label: string, target: string): ChoiceRule {
  return { Variable: "$.decision", StringEquals: label, Next: target };
}
