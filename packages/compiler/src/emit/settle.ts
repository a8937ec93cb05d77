import type { ChoiceRule, State } from "../asl.ts";
import type { PlannedAction, PlannedDecision } from "../lower/plan.ts";
import { closeState, settledState, settleState } from "./names.ts";
import { catchTo, type FunctionArns, lambdaTask, nodeParameters } from "./task.ts";

type Failable = PlannedAction | PlannedDecision;

/** Where a node's Catch leads: with `onError` the chain is asked what happened, without one the run is closed. */
export function afterFailure(node: Failable): string {
  return node.onError === undefined ? closeState : settleState(node.id);
}

/**
 * States of a node with `onError`: its settle, then a Choice. Step Functions may have seen a failure where the chain
 * says success (the Lambda died after its commit); then the run goes on along the node's own edges, `rules` or `own`.
 */
export function settleStates(
  node: Failable,
  rules: readonly ChoiceRule[],
  own: string,
  functions: FunctionArns,
): Record<string, State> {
  if (node.onError === undefined) return {};
  const settle = lambdaTask(
    functions.settleNode,
    { parameters: { ...nodeParameters(node.id), "error.$": "$.error" }, catchers: catchTo(closeState) },
    { Next: settledState(node.id) },
  );
  return {
    [settleState(node.id)]: settle,
    [settledState(node.id)]: {
      Type: "Choice",
      Choices: [{ Variable: "$.failed", BooleanEquals: true, Next: node.onError }, ...rules],
      Default: own,
    },
  };
}
