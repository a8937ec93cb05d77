import { invalid } from "../errors.ts";
import type { AttributeValue } from "../values/attribute-value.ts";
import type { Comparator, Condition, Operand } from "./syntax.ts";

/** What a key condition says of one key attribute. */
export interface KeyTest {
  operator: Exclude<Comparator, "<>"> | "between" | "begins_with";
  values: AttributeValue[];
}

const mirrored = { "=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as const;

/** The tests that AND joins, by attribute. */
export function keyTestsOf(condition: Condition): Map<string, KeyTest> {
  const tests = new Map<string, KeyTest>();
  for (const [name, test] of collect(condition)) {
    if (tests.has(name)) throw invalid("KeyConditionExpressions must only contain one condition per key");
    tests.set(name, test);
  }
  return tests;
}

function collect(condition: Condition): [string, KeyTest][] {
  switch (condition.kind) {
    case "and":
      return [...collect(condition.left), ...collect(condition.right)];
    case "compare":
      return [comparison(condition)];
    case "between": {
      const name = first("BETWEEN", condition.value);
      return [[name, { operator: "between", values: [valueIn(condition.low), valueIn(condition.high)] }]];
    }
    case "function": {
      const [key, start] = condition.args;
      if (condition.name !== "begins_with" || !start) throw unsupported(condition.name);
      return [[first("begins_with", key), { operator: "begins_with", values: [valueIn(start)] }]];
    }
    default:
      throw unsupported(condition.kind.toUpperCase());
  }
}

function comparison({ operator, left, right }: Condition & { kind: "compare" }): [string, KeyTest] {
  if (operator === "<>") throw unsupported(operator);
  if (left.kind === "path") return [keyName(left), { operator, values: [valueIn(right)] }];
  if (right.kind === "path") return [keyName(right), { operator: mirrored[operator], values: [valueIn(left)] }];
  for (const operand of [left, right]) valueIn(operand);
  throw invalid("Invalid condition in KeyConditionExpression: No key attribute specified");
}

function first(operator: string, operand: Operand | undefined): string {
  if (operand?.kind === "path") return keyName(operand);
  const what = `${operator} operator must have the key attribute as its first operand`;
  throw invalid(`Invalid condition in KeyConditionExpression: ${what}`);
}

function keyName({ path }: Operand & { kind: "path" }): string {
  if (path.length === 1) return path[0] as string;
  throw invalid("KeyConditionExpressions cannot have conditions on nested attributes");
}

function valueIn(operand: Operand): AttributeValue {
  if (operand.kind === "value") return operand.value;
  if (operand.kind !== "path") throw invalid("KeyConditionExpressions cannot contain nested operations");
  throw invalid("Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition");
}

function unsupported(operator: string): Error {
  return invalid(`Invalid operator used in KeyConditionExpression: ${operator}`);
}
