import { type AttributeMap, type AttributeValue, areEqual, attribute, orderOf } from "../values/attribute-value.ts";
import type { Comparator, Condition, Operand, Path } from "./syntax.ts";

export function isTrue(condition: Condition, item: AttributeMap): boolean {
  const valueIn = (operand: Operand) => operandValue(operand, item);
  switch (condition.kind) {
    case "and":
      return isTrue(condition.left, item) && isTrue(condition.right, item);
    case "or":
      return isTrue(condition.left, item) || isTrue(condition.right, item);
    case "not":
      return !isTrue(condition.condition, item);
    case "compare":
      return compare(condition.operator, valueIn(condition.left), valueIn(condition.right));
    case "between": {
      const value = valueIn(condition.value);
      return compare(">=", value, valueIn(condition.low)) && compare("<=", value, valueIn(condition.high));
    }
    case "in":
      return condition.options.some((option) => compare("=", valueIn(condition.value), valueIn(option)));
    case "exists":
      return lookUp(condition.path, item) !== undefined;
    default: {
      const [value, part] = [valueIn(condition.value), valueIn(condition.part)];
      if (!value || !part) return false;
      if (condition.kind === "contains" && "L" in value) return value.L.some((element) => areEqual(element, part));
      if (!("S" in value && "S" in part)) return false;
      return condition.kind === "contains" ? value.S.includes(part.S) : value.S.startsWith(part.S);
    }
  }
}

/** What lies at a path. */
export function lookUp(path: Path, item: AttributeMap): AttributeValue | undefined {
  let found: AttributeValue | undefined = { M: item };
  for (const part of path) found = found && "M" in found ? attribute(found.M, part) : undefined;
  return found;
}

export function operandValue(operand: Operand, item: AttributeMap): AttributeValue | undefined {
  return operand.kind === "value" ? operand.value : lookUp(operand.path, item);
}

/** Nothing is equal to a missing attribute, and it is unequal to everything. */
function compare(operator: Comparator, a: AttributeValue | undefined, b: AttributeValue | undefined): boolean {
  if (operator === "=") return a !== undefined && b !== undefined && areEqual(a, b);
  if (operator === "<>") return a === undefined || b === undefined || !areEqual(a, b);
  const order = a && b && orderOf(a, b);
  if (order === undefined) return false;
  if (operator === "<") return order < 0;
  if (operator === "<=") return order <= 0;
  return operator === ">" ? order > 0 : order >= 0;
}
