import type { Json } from "../../../json.ts";
import type { Definition } from "../definition.ts";
import { runtimeFailure } from "../failure.ts";
import { compilePath, type Path, PathNotFound } from "../path/read-path.ts";
import type { Scope } from "../scope.ts";
import { comparisons, operandTypeOf, typeTests } from "./comparisons.ts";

export type Rule = (scope: Scope) => boolean;

/** Beside these, a rule has exactly one field: its operator. */
const AROUND = new Set(["Variable", "Next", "Comment"]);

/** @throws DefinitionRejected for an operator that does not exist, or an operand that it cannot take */
export function compileRule(rule: Definition): Rule {
  const operators = Object.keys(rule.fields).filter((key) => !AROUND.has(key));
  const operator = operators[0];
  if (operator === undefined || operators.length > 1) {
    throw rule.reject("Variable", `needs exactly one comparison operator beside it, not ${operators.length}`);
  }
  return operator === "And" || operator === "Or" || operator === "Not"
    ? compileCombination(rule, operator)
    : compileComparison(rule, operator);
}

function compileCombination(rule: Definition, operator: "And" | "Or" | "Not"): Rule {
  if (rule.has("Variable")) throw rule.reject("Variable", `cannot stand beside ${operator}`);
  if (operator === "Not") {
    const inner = compileNested(rule.child("Not"));
    return (scope) => !inner(scope);
  }
  const rules = rule.someChildren(operator).map(compileNested);
  return operator === "And"
    ? (scope) => rules.every((holds) => holds(scope))
    : (scope) => rules.some((holds) => holds(scope));
}

function compileNested(rule: Definition): Rule {
  if (rule.has("Next")) throw rule.reject("Next", "belongs to the outermost rule");
  return compileRule(rule);
}

function compileComparison(rule: Definition, operator: string): Rule {
  const variable = compilePath(rule.text("Variable"), rule.path("Variable"));
  const expected = rule.get(operator) as Json;
  const type = operandTypeOf(operator);
  if (type && !type.takes(expected)) throw rule.reject(operator, `must be ${type.name}`);
  if (operator === "IsPresent") return (scope) => isPresent(variable, scope) === expected;
  const test = typeTests[operator];
  if (test) return (scope) => test(readOperand(variable, scope)) === expected;
  const compare = comparisons[operator];
  if (compare) return (scope) => compare(readOperand(variable, scope), expected);
  return compileComparisonToPath(rule, operator, variable);
}

function compileComparisonToPath(rule: Definition, operator: string, variable: Path): Rule {
  const compare = operator.endsWith("Path") ? comparisons[operator.slice(0, -"Path".length)] : undefined;
  if (!compare || operator === "StringMatchesPath") throw rule.reject(operator, "is not a comparison operator");
  const other = compilePath(rule.text(operator), rule.path(operator));
  return (scope) => compare(readOperand(variable, scope), readOperand(other, scope));
}

function isPresent(path: Path, scope: Scope): boolean {
  try {
    path.read(scope);
    return true;
  } catch (error) {
    if (error instanceof PathNotFound) return false;
    throw error;
  }
}

function readOperand(path: Path, scope: Scope): Json {
  try {
    return path.read(scope);
  } catch (error) {
    if (!(error instanceof PathNotFound)) throw error;
    throw runtimeFailure(`Invalid path '${path.text}': The choice state's condition path references an invalid value.`);
  }
}
