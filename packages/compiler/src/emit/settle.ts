import type { ChoiceRule, ChoiceState, Parameters, States, TaskState } from "../asl.ts";
import type { Failable, Way } from "../lower/plan.ts";
import type { Frame } from "./frame.ts";
import { stateOf } from "./names.ts";
import { catchTo, lambdaTask, nodeParameters } from "./task.ts";

type Node = Failable & { id: string };

/** Where a node's Catch leads: to its settle, or on the main line without `onError` to the close, which settles. */
export function afterFailure(node: Node, frame: Frame): string {
  return isSettled(node, frame) ? stateOf(node.id, "settle") : frame.unsettled;
}

/**
 * Settle of a node, then a Choice. Step Functions may have seen a failure where the chain says success (the Lambda died
 * after its commit); then the run goes on along the node's own edges, `rules` or `own`. `more` is what an answer needs
 * to know besides.
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
    [settled]: settledChoice(failedWay(node.onError, frame), rules, own),
  };
}

/** Asks the chain what happened. */
export function settleTask(parameters: Parameters, next: string, frame: Frame): TaskState {
  return lambdaTask(frame.functions.settleNode, { parameters, catchers: catchTo(frame.unsettled, frame) }, next);
}

/** Behind whatever asked the chain. */
export function settledChoice(failed: string, rules: readonly ChoiceRule[], own: string): ChoiceState {
  return {
    Type: "Choice",
    Choices: [{ Variable: "$.failed", BooleanEquals: true, Next: failed }, ...rules],
    Default: own,
  };
}

export function failedWay(onError: Way | undefined, frame: Frame): string {
  return onError === undefined ? frame.failed : (onError ?? frame.done);
}

function isSettled({ onError }: Node, { settles }: Frame): boolean {
  return settles || onError !== undefined;
}
