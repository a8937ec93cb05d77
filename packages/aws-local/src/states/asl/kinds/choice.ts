import type { Definition } from "../definition.ts";
import { EvaluationFailure, runtimeFailure } from "../failure.ts";
import { compilePath, type Scope } from "../path.ts";
import type { State } from "../state.ts";

export function compileChoice(name: string, definition: Definition): State {
  const choices = definition
    .someChildren("Choices")
    .map((rule) => ({ holds: compileRule(rule), next: rule.text("Next") }));
  const otherwise = definition.optionalText("Default");
  return {
    name,
    type: "Choice",
    run(input, visit) {
      const scope = visit.scope(input);
      const next = choices.find((choice) => choice.holds(scope))?.next ?? otherwise;
      if (next !== undefined) return { output: input, next };
      const what = "Failed to transition out of the state. No choice rule matched and the state has no Default.";
      throw new EvaluationFailure("States.NoChoiceMatched", what);
    },
  };
}

type Rule = (scope: Scope) => boolean;

/** The fields of a rule that are not operators. A rule has exactly one further field: its operator. */
const AROUND = new Set(["Variable", "Next", "Comment"]);

/** The comparison operators, with the type of their operand. */
const COMPARISONS = new Map([
  ["StringEquals", "string"],
  ["NumericEquals", "number"],
  ["BooleanEquals", "boolean"],
  ["IsPresent", "boolean"],
]);

/**
 * Compiles a rule of a Choice state.
 * @throws DefinitionRejected for an operator that is not served, or an operand of the wrong type
 */
function compileRule(rule: Definition): Rule {
  const operators = Object.keys(rule.fields).filter((key) => !AROUND.has(key));
  const operator = operators[0];
  if (operator === undefined || operators.length > 1) {
    throw rule.reject("Variable", `needs exactly one comparison operator beside it, not ${operators.length}`);
  }
  return operator === "And" ? compileAnd(rule) : compileComparison(rule, operator);
}

function compileAnd(rule: Definition): Rule {
  if (rule.has("Variable")) throw rule.reject("Variable", "cannot stand beside And");
  const rules = rule.someChildren("And").map((inner) => {
    if (inner.has("Next")) throw inner.reject("Next", "belongs to the outermost rule");
    return compileRule(inner);
  });
  return (scope) => rules.every((holds) => holds(scope));
}

function compileComparison(rule: Definition, operator: string): Rule {
  const variable = compilePath(rule.text("Variable"), rule.path("Variable"));
  const expected = rule.get(operator);
  const type = COMPARISONS.get(operator);
  if (!type) throw rule.reject(operator, "is not a comparison operator that is served here");
  if (typeof expected !== type) throw rule.reject(operator, `must be a ${type}`);
  const read = (scope: Scope) => variable.read(scope, () => undefined);
  if (operator === "IsPresent") return (scope) => (read(scope) !== undefined) === expected;
  return (scope) => {
    const value = read(scope);
    if (value !== undefined) return value === expected;
    throw runtimeFailure(
      `Invalid path '${variable.text}': The choice state's condition path references an invalid value.`,
    );
  };
}
