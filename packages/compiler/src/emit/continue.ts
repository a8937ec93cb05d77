import type { ChoiceRule, States } from "../asl.ts";
import { loopTargets, type PlannedFrame } from "../lower/plan.ts";
import { beginState, closeState, continueState } from "./names.ts";
import { anotherRun } from "./task.ts";

/** A further execution begins where the one before it would have gone back to. */
export function beginStates(main: PlannedFrame): States {
  const [first, ...others] = loopTargets(main).map(resumeAt);
  if (!first) return {};
  return { [beginState]: { Type: "Choice", Choices: [first, ...others], Default: main.entry } };
}

/** In the input of the first execution there is no `resume`; a comparison of what is missing would end it. */
function resumeAt(target: string): ChoiceRule {
  const Variable = "$.resume";
  return {
    And: [
      { Variable, IsPresent: true },
      { Variable, StringEquals: target },
    ],
    Next: target,
  };
}

/**
 * The same state machine once more, with an empty history: this execution only waits for that one, and ends as it ends.
 * The close asks the chain, and of one that ended without closing it Step Functions.
 */
export function continueStates(): States {
  return {
    [continueState]: {
      Type: "Task",
      Comment: "The history is nearly full: the loop goes on in a further execution.",
      ...anotherRun("$.continuation"),
      Catch: [{ ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: closeState }],
      End: true,
      OutputPath: "$.Output",
    },
  };
}
