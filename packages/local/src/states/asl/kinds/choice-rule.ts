import type { Definition } from "../definition.ts";
import { runtimeFailure } from "../failure.ts";
import type { Json } from "../json.ts";
import { compilePath, type Path, PathNotFound } from "../path/read-path.ts";
import type { Scope } from "../scope.ts";
import { comparisons, typeTests } from "./comparisons.ts";

export type Rule = (scope: Scope) => boolean;

/** @throws DefinitionRejected for an operator that does not exist. */
export function compileRule(rule: Definition): Rule {
  if (rule.get("And") !== undefined) {
    const all = rule.children("And").map(compileRule);
    return (scope) => all.every((holds) => holds(scope));
  }
  if (rule.get("Or") !== undefined) {
    const any = rule.children("Or").map(compileRule);
    return (scope) => any.some((holds) => holds(scope));
  }
  if (rule.get("Not") !== undefined) {
    const inner = compileRule(rule.child("Not"));
    return (scope) => !inner(scope);
  }
  return compileComparison(rule);
}

function compileComparison(rule: Definition): Rule {
  const variable = compilePath(rule.text("Variable"), rule.path("Variable"));
  const operators = Object.keys(rule.fields).filter((key) => !["Variable", "Next", "Comment"].includes(key));
  const operator = operators[0];
  if (operator === undefined || operators.length > 1) {
    throw rule.reject("Variable", `needs exactly one comparison operator beside it, not ${operators.length}`);
  }
  const expected = rule.get(operator) as Json;
  if (operator === "IsPresent") return (scope) => isPresent(variable, scope) === expected;
  const test = typeTests[operator];
  if (test) return (scope) => test(readOperand(variable, scope)) === expected;
  return compileOperator(rule, operator, variable, expected);
}

function compileOperator(rule: Definition, operator: string, variable: Path, expected: Json): Rule {
  const compare = comparisons[operator];
  if (compare) return (scope) => compare(readOperand(variable, scope), expected);
  const compareTo = operator.endsWith("Path") ? comparisons[operator.slice(0, -"Path".length)] : undefined;
  if (!compareTo || operator === "StringMatchesPath") throw rule.reject(operator, "is not a comparison operator");
  const other = compilePath(rule.text(operator), rule.path(operator));
  return (scope) => compareTo(readOperand(variable, scope), readOperand(other, scope));
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
