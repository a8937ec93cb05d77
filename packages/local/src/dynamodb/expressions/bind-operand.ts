import { invalid } from "../errors.ts";
import { type AttributeType, typeOf } from "../values/attribute-value.ts";
import type { Placeholders } from "./placeholders.ts";
import { type Operand, pathText } from "./syntax.ts";

/** The operand with names and values in the place of its placeholders. */
export function bindOperand(operand: Operand, placeholders: Placeholders): Operand {
  switch (operand.kind) {
    case "path":
      return { kind: "path", path: placeholders.path(operand.path) };
    case "placeholder":
      return { kind: "value", value: placeholders.value(operand.name) };
    case "function":
      return { ...operand, args: operand.args.map((arg) => bindOperand(arg, placeholders)) };
    default:
      return operand;
  }
}

/** What is known of an operand's type without an item. */
export function staticType(operand: Operand): AttributeType | undefined {
  if (operand.kind === "value") return typeOf(operand.value);
  return operand.kind === "function" && operand.name === "size" ? "N" : undefined;
}

export function expectPath(name: string, operand: Operand | undefined): void {
  if (operand?.kind === "path") return;
  throw invalid(`Operator or function requires a document path; operator or function: ${name}`);
}

/** Refuses an operand that is known to be of another type. */
export function expectType(what: string, operand: Operand | undefined, types: readonly AttributeType[]): void {
  const type = operand && staticType(operand);
  if (type === undefined || types.includes(type)) return;
  throw invalid(`Incorrect operand type for operator or function; ${what}, operand type: ${type}`);
}

export function expectDistinct(operator: string, first: Operand, others: Operand[]): void {
  if (first.kind !== "path") return;
  const text = pathText(first.path);
  if (!others.some((other) => other.kind === "path" && pathText(other.path) === text)) return;
  const what = "The first operand must be distinct from the remaining operands for this operator or function";
  throw invalid(`${what}; operator: ${operator}, first operand: ${text}`);
}
