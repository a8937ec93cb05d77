import { invalid } from "../errors.ts";
import { type AttributeType, attributeTypes, contentOf, orderOf, typeOf } from "../values/attribute-value.ts";
import type { Placeholders } from "./placeholders.ts";
import {
  type Condition,
  checkDistinctPaths,
  type FunctionCall,
  type Operand,
  pathText,
  type Update,
} from "./syntax.ts";

/** Replaces the placeholders, and refuses what can be known to be wrong before any item is looked at. */
export function bindCondition(condition: Condition, placeholders: Placeholders): Condition {
  const bind = (operand: Operand) => checkSize(bindOperand(operand, placeholders));
  switch (condition.kind) {
    case "and":
    case "or": {
      const left = bindCondition(condition.left, placeholders);
      return { kind: condition.kind, left, right: bindCondition(condition.right, placeholders) };
    }
    case "not":
      return { kind: "not", condition: bindCondition(condition.condition, placeholders) };
    case "compare":
      return checkComparison({ ...condition, left: bind(condition.left), right: bind(condition.right) });
    case "between": {
      const [value, low, high] = [bind(condition.value), bind(condition.low), bind(condition.high)];
      return checkBounds({ kind: "between", value, low, high });
    }
    case "in": {
      const [value, ...options] = [condition.value, ...condition.options].map(bind) as [Operand, ...Operand[]];
      expectDistinct("IN", value, options);
      return { kind: "in", value, options };
    }
    case "function":
      return checkCall({ ...condition, args: condition.args.map(bind) });
  }
}

function checkSize(operand: Operand): Operand {
  if (operand.kind !== "function") return operand;
  const sized = ["S", "B", "SS", "NS", "BS", "L", "M"] as const;
  expectType("operator or function: size", operand.args[0], sized);
  return operand;
}

function checkComparison(condition: Condition & { kind: "compare" }): Condition {
  const { operator, left, right } = condition;
  expectDistinct(operator, left, [right]);
  if (operator === "=" || operator === "<>") return condition;
  for (const operand of [left, right]) expectType(`operator: ${operator}`, operand, ["S", "N", "B"]);
  return condition;
}

function checkBounds(condition: Condition & { kind: "between" }): Condition {
  const { value, low, high } = condition;
  for (const operand of [value, low, high]) expectType("operator: BETWEEN", operand, ["S", "N", "B"]);
  if (low.kind !== "value" || high.kind !== "value") return condition;
  const bounds = [low, high].map((bound) => `AttributeValue: {${typeOf(bound.value)}:${contentOf(bound.value)}}`);
  const operands = `lower bound operand: ${bounds[0]}, upper bound operand: ${bounds[1]}`;
  const order = orderOf(low.value, high.value);
  if (order === undefined) {
    throw invalid(`The BETWEEN operator requires same data type for lower and upper bounds; ${operands}`);
  }
  if (order <= 0) return condition;
  const what = "The BETWEEN operator requires upper bound to be greater than or equal to lower bound";
  throw invalid(`${what}; ${operands}`);
}

function checkCall(call: FunctionCall): FunctionCall {
  const { name, args } = call;
  const what = `operator or function: ${name}`;
  const [first, second] = args as [Operand, Operand | undefined];
  if (second) expectDistinct(name, first, [second]);
  if (name.startsWith("attribute_")) expectPath(name, first);
  if (name === "attribute_type") checkTypeName(second);
  if (name === "begins_with") for (const arg of args) expectType(what, arg, ["S", "B"]);
  return call;
}

function checkTypeName(operand: Operand | undefined): void {
  const type = operand && staticType(operand);
  if (operand?.kind !== "value" || type !== "S") {
    const types = type ?? `{${attributeTypes.join(",")}}`;
    const what = `operator or function: attribute_type, operand type: ${types}`;
    throw invalid(`Incorrect operand type for operator or function; ${what}`);
  }
  const name = contentOf(operand.value);
  if ((attributeTypes as readonly unknown[]).includes(name)) return;
  throw invalid(`Invalid attribute type name found; type: ${name}, valid types: {${attributeTypes.join(",")}}`);
}

/** Replaces the placeholders, and refuses what can be known to be wrong before any item is looked at. */
export function bindUpdates(updates: Update[], placeholders: Placeholders): Update[] {
  const bound = updates.map((update) => bindUpdate(update, placeholders));
  checkDistinctPaths(bound.map(({ path }) => path));
  return bound;
}

function bindUpdate(update: Update, placeholders: Placeholders): Update {
  const path = placeholders.path(update.path);
  if (update.kind === "remove") return { kind: "remove", path };
  const value = bindOperand(update.value, placeholders);
  if (update.kind === "add") expectAmount("ADD", value, ["N", "SS", "NS", "BS"]);
  if (update.kind === "delete") expectAmount("DELETE", value, ["SS", "NS", "BS"]);
  return { ...update, path, value };
}

/** As these two sections call the types. */
const longNames: Partial<Record<AttributeType, string>> = {
  S: "STRING",
  N: "NUMBER",
  B: "BINARY",
  NULL: "NULL",
  BOOL: "BOOLEAN",
  L: "LIST",
  M: "MAP",
};

function expectAmount(operator: string, operand: Operand, types: readonly AttributeType[]): void {
  const type = staticType(operand);
  if (type === undefined || types.includes(type)) return;
  const what = `operator: ${operator}, operand type: ${longNames[type]}`;
  throw invalid(`Incorrect operand type for operator or function; ${what}`);
}

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
