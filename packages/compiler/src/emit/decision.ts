import { defaultLabel } from "@nova/workflow";
import type { ChoiceRule, State } from "../asl.ts";
import type { PlannedDecision } from "../lower/plan.ts";
import { branchState, closeState } from "./names.ts";
import { afterFailure, settleStates } from "./settle.ts";
import { catchTo, type FunctionArns, lambdaTask, nodeParameters } from "./task.ts";

/** The task that decides, then a Choice over the committed decision; what no edge fits closes the run. */
export function emitDecision(node: PlannedDecision, functions: FunctionArns): Record<string, State> {
  const task = lambdaTask(
    functions.runNode,
    { comment: node.comment, parameters: nodeParameters(node.id), catchers: catchTo(afterFailure(node)) },
    { Next: branchState(node.id) },
  );
  const rules = branchRules(node);
  const otherwise = node.otherwise ?? closeState;
  return {
    [node.id]: task,
    [branchState(node.id)]: { Type: "Choice", Choices: rules, Default: otherwise },
    ...settleStates(node, rules, otherwise, functions),
  };
}

function branchRules(node: PlannedDecision): [ChoiceRule, ...ChoiceRule[]] {
  const [first, ...others] = node.branches.map(({ label, target }) => ruleFor(label, target));
  // A Choice must have a rule even where the default edge is the only one.
  return first ? [first, ...others] : [ruleFor(defaultLabel, node.otherwise ?? closeState)];
}

function ruleFor(label: string, target: string): ChoiceRule {
  return { Variable: "$.decision", StringEquals: label, Next: target };
}
