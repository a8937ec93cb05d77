import { defaultLabel } from "@nova/workflow";
import type { ChoiceRule, States } from "../asl.ts";
import type { Decides } from "../lower/plan.ts";
import type { Frame } from "./frame.ts";
import { stateOf } from "./names.ts";

export interface Branching {
  rules: [ChoiceRule, ...ChoiceRule[]];
  otherwise: string;
}

/** The ways out of a node that decides, as rules over the committed decision. */
export function branchingOf({ branches, otherwise }: Decides, frame: Frame): Branching {
  const rest = otherwise === undefined ? frame.unfit : (otherwise ?? frame.done);
  const [first, ...others] = [
    ...furtherRules(branches, frame),
    ...branches.map(({ label, target }) => ruleFor(label, target ?? frame.done)),
  ];
  // A Choice must have a rule even where the default edge is the only one.
  return { rules: first ? [first, ...others] : [ruleFor(defaultLabel, rest)], otherwise: rest };
}

/** The Choice that directly follows the task. */
export function branchStates(node: Decides, { rules, otherwise }: Branching): States {
  return { [stateOf(node.id, "branch")]: { Type: "Choice", Choices: rules, Default: otherwise } };
}

/** A loop whose history is nearly full does not go back here, but in an execution of its own. */
function furtherRules(branches: Decides["branches"], { further }: Frame): ChoiceRule[] {
  if (further === undefined || branches.every(({ max }) => max === undefined)) return [];
  return [{ Variable: "$.continuation", IsPresent: true, Next: further }];
}

function ruleFor(label: string, target: string): ChoiceRule {
  return { Variable: "$.decision", StringEquals: label, Next: target };
}
