import { invalid } from "../errors.ts";
import {
  type AttributeMap,
  type AttributeValue,
  areEqual,
  attribute,
  emptyMap,
  orderOf,
} from "../values/attribute-value.ts";
import { addNumbers } from "../values/decimal.ts";
import type { Comparator, Condition, Operand, Path, Update } from "./syntax.ts";

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
      return readPath(condition.path, item) !== undefined;
    case "absent":
      return readPath(condition.path, item) === undefined;
    case "begins_with": {
      const [value, part] = [valueIn(condition.value), valueIn(condition.part)];
      return value !== undefined && part !== undefined && "S" in value && "S" in part && value.S.startsWith(part.S);
    }
  }
}

/** Returns the value at a path. */
export function readPath(path: Path, item: AttributeMap): AttributeValue | undefined {
  let found: AttributeValue | undefined = { M: item };
  for (const part of path) found = found && "M" in found ? attribute(found.M, part) : undefined;
  return found;
}

export function operandValue(operand: Operand, item: AttributeMap): AttributeValue | undefined {
  return operand.kind === "value" ? operand.value : readPath(operand.path, item);
}

/** Returns whether a comparison of two values holds. If a value is missing, only `<>` holds. */
function compare(operator: Comparator, a: AttributeValue | undefined, b: AttributeValue | undefined): boolean {
  if (operator === "=") return a !== undefined && b !== undefined && areEqual(a, b);
  if (operator === "<>") return a === undefined || b === undefined || !areEqual(a, b);
  const order = a && b && orderOf(a, b);
  if (order === undefined) return false;
  if (operator === "<") return order < 0;
  if (operator === "<=") return order <= 0;
  return operator === ">" ? order > 0 : order >= 0;
}

/** Returns a copy of the item with only the values at these paths. */
export function pickPaths(item: AttributeMap, paths: readonly Path[]): AttributeMap {
  const picked = emptyMap();
  for (const path of paths) {
    const value = readPath(path, item);
    if (!value) continue;
    let map = picked;
    for (const part of path.slice(0, -1)) {
      map[part] ??= { M: emptyMap() };
      map = (map[part] as { M: AttributeMap }).M;
    }
    map[path.at(-1) as string] = value;
  }
  return picked;
}

/** Changes the item in place. Each update reads the item as it was before all updates. */
export function applyUpdates(updates: Update[], item: AttributeMap): void {
  const values = updates.map((update) => newValue(update, item));
  for (const [i, { path }] of updates.entries()) write(item, path, values[i]);
}

/** Returns the value that an update writes; undefined if the update removes the attribute. */
function newValue(update: Update, item: AttributeMap): AttributeValue | undefined {
  if (update.kind === "remove") return undefined;
  if (update.kind === "set") {
    const value = operandValue(update.value, item);
    // Only maps and lists are changed in place, so all other values can be shared.
    if (value) return "M" in value || "L" in value ? structuredClone(value) : value;
    throw invalid("The provided expression refers to an attribute that does not exist in the item");
  }
  const old = readPath(update.path, item) ?? { N: "0" };
  if ("N" in old) return { N: addNumbers(old.N, update.amount) };
  throw invalid("An operand in the update expression has an incorrect data type");
}

function write(item: AttributeMap, path: Path, value: AttributeValue | undefined): void {
  const parent = readPath(path.slice(0, -1), item);
  const name = path.at(-1) as string;
  if (!parent || !("M" in parent)) {
    throw invalid("The document path provided in the update expression is invalid for update");
  }
  if (value === undefined && attribute(parent.M, name)) delete parent.M[name];
  const property = { value, enumerable: true, configurable: true, writable: true };
  // An assignment to `__proto__` would not create an attribute.
  if (value !== undefined) Object.defineProperty(parent.M, name, property);
}
