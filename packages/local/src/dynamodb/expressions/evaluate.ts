import {
  type AttributeMap,
  type AttributeValue,
  areEqual,
  attribute,
  membersOf,
  orderOf,
  typeOf,
} from "../values/attribute-value.ts";
import type { Comparator, Condition, FunctionCall, Operand, Path } from "./syntax.ts";

export function isTrue(condition: Condition, item: AttributeMap): boolean {
  switch (condition.kind) {
    case "and":
      return isTrue(condition.left, item) && isTrue(condition.right, item);
    case "or":
      return isTrue(condition.left, item) || isTrue(condition.right, item);
    case "not":
      return !isTrue(condition.condition, item);
    case "compare":
      return compare(condition.operator, operandValue(condition.left, item), operandValue(condition.right, item));
    case "between": {
      const [value, low, high] = [condition.value, condition.low, condition.high].map((it) => operandValue(it, item));
      return compare(">=", value, low) && compare("<=", value, high);
    }
    case "in": {
      const value = operandValue(condition.value, item);
      return condition.options.some((option) => compare("=", value, operandValue(option, item)));
    }
    case "function":
      return call(condition, item);
  }
}

/** What lies at a path. */
export function lookUp(path: Path, item: AttributeMap): AttributeValue | undefined {
  let found: AttributeValue | undefined = { M: item };
  for (const part of path) {
    if (found === undefined) return undefined;
    found = step(found, part);
  }
  return found;
}

function step(value: AttributeValue, part: string | number): AttributeValue | undefined {
  if (typeof part === "number") return "L" in value ? value.L[part] : undefined;
  return "M" in value ? attribute(value.M, part) : undefined;
}

function operandValue(operand: Operand, item: AttributeMap): AttributeValue | undefined {
  if (operand.kind === "value") return operand.value;
  if (operand.kind === "path") return lookUp(operand.path, item);
  if (operand.kind === "function" && operand.args[0]) return sizeOf(operandValue(operand.args[0], item));
  throw new TypeError(`an operand of kind ${operand.kind} cannot be evaluated - it was not bound`);
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

function call({ name, args }: FunctionCall, item: AttributeMap): boolean {
  const [first, second] = args.map((arg) => operandValue(arg, item));
  if (name === "attribute_exists") return first !== undefined;
  if (name === "attribute_not_exists") return first === undefined;
  if (first === undefined || second === undefined) return false;
  if (name === "attribute_type") return "S" in second && typeOf(first) === second.S;
  return name === "begins_with" ? beginsWith(first, second) : contains(first, second);
}

function beginsWith(value: AttributeValue, start: AttributeValue): boolean {
  if ("S" in value && "S" in start) return value.S.startsWith(start.S);
  if (!("B" in value) || !("B" in start)) return false;
  const prefix = bytesOf(start.B);
  return bytesOf(value.B).subarray(0, prefix.length).equals(prefix);
}

function contains(value: AttributeValue, part: AttributeValue): boolean {
  if ("L" in value) return value.L.some((element) => areEqual(element, part));
  if ("S" in value && "S" in part) return value.S.includes(part.S);
  if ("B" in value && "B" in part) return bytesOf(value.B).includes(bytesOf(part.B));
  if ("SS" in value && "S" in part) return value.SS.includes(part.S);
  if ("NS" in value && "N" in part) return value.NS.includes(part.N);
  return "BS" in value && "B" in part && value.BS.includes(part.B);
}

/** Of texts and binaries the bytes; of all others how many there are. */
function sizeOf(value: AttributeValue | undefined): AttributeValue | undefined {
  if (value === undefined) return undefined;
  if ("S" in value) return { N: String(Buffer.byteLength(value.S)) };
  if ("B" in value) return { N: String(bytesOf(value.B).length) };
  const many = "L" in value ? value.L : "M" in value ? Object.keys(value.M) : membersOf(value);
  return many && { N: String(many.length) };
}

function bytesOf(base64: string): Buffer {
  return Buffer.from(base64, "base64");
}
