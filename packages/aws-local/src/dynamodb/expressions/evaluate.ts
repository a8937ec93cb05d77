import { type AttributeMap, type AttributeValue, areEqual, attribute, orderOf } from "../values/attribute-value.ts";
import type { Comparator, Condition, Operand, Path } from "./syntax.ts";

export function isTrue(condition: Condition, item: AttributeMap): boolean {
  const valueIn = (operand: Operand) => operandValue(operand, item);
  switch (condition.kind) {
    case "and":
      return isTrue(condition.left, item) && isTrue(condition.right, item);
    case "or":
      return isTrue(condition.left, item) || isTrue(condition.right, item);
    case "compare":
      return compare(condition.operator, valueIn(condition.left), valueIn(condition.right));
    case "between": {
      const value = valueIn(condition.value);
      return compare(">=", value, valueIn(condition.low)) && compare("<=", value, valueIn(condition.high));
    }
    case "exists":
      return lookUp(condition.path, item) !== undefined;
    case "absent":
      return lookUp(condition.path, item) === undefined;
    case "begins_with": {
      const [value, part] = [valueIn(condition.value), valueIn(condition.part)];
      return value !== undefined && part !== undefined && "S" in value && "S" in part && value.S.startsWith(part.S);
    }
  }
}

/** The value at a path. */
export function lookUp(path: Path, item: AttributeMap): AttributeValue | undefined {
  let found: AttributeValue | undefined = { M: item };
  for (const part of path) found = found && "M" in found ? attribute(found.M, part) : undefined;
  return found;
}

export function operandValue(operand: Operand, item: AttributeMap): AttributeValue | undefined {
  return operand.kind === "value" ? operand.value : lookUp(operand.path, item);
}

/** A missing attribute is equal to no value, and unequal to every value. */
function compare(operator: Comparator, a: AttributeValue | undefined, b: AttributeValue | undefined): boolean {
  if (operator === "=") return a !== undefined && b !== undefined && areEqual(a, b);
  if (operator === "<>") return a === undefined || b === undefined || !areEqual(a, b);
  const order = a && b && orderOf(a, b);
  if (order === undefined) return false;
  if (operator === "<") return order < 0;
  if (operator === "<=") return order <= 0;
  return operator === ">" ? order > 0 : order >= 0;
}
