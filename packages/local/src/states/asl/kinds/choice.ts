import type { Definition } from "../definition.ts";
import { EvaluationFailure } from "../failure.ts";
import { compileSelector, type State } from "../state.ts";
import { compileRule } from "./choice-rule.ts";

export function compileChoice(name: string, definition: Definition): State {
  const inputPath = compileSelector(definition, "InputPath");
  const outputPath = compileSelector(definition, "OutputPath");
  const choices = definition
    .someChildren("Choices")
    .map((rule) => ({ holds: compileRule(rule), next: rule.text("Next") }));
  const otherwise = definition.optionalText("Default");
  return {
    name,
    type: "Choice",
    run(input, visit) {
      const selected = inputPath(visit.scope(input));
      const scope = visit.scope(selected);
      const next = choices.find((choice) => choice.holds(scope))?.next ?? otherwise;
      if (next === undefined) throw noChoiceMatched();
      return { output: outputPath(visit.scope(selected)), next };
    },
  };
}

function noChoiceMatched(): EvaluationFailure {
  return new EvaluationFailure(
    "States.NoChoiceMatched",
    "Failed to transition out of the state. No choice rule matched and the state has no Default.",
  );
}
