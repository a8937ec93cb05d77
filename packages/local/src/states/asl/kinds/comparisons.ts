import type { Json } from "../../../json.ts";
import { parseTimestamp } from "../timestamp.ts";

type Comparison = (value: Json, expected: Json) => boolean;

/** What `value` and `expected` are compared as; undefined, and so no match, where either is of another type. */
type Reading = (value: Json) => string | number | boolean | undefined;

const asString: Reading = (value) => (typeof value === "string" ? value : undefined);
const asNumber: Reading = (value) => (typeof value === "number" ? value : undefined);
const asBoolean: Reading = (value) => (typeof value === "boolean" ? value : undefined);
const asTimestamp: Reading = (value) => (typeof value === "string" ? parseTimestamp(value) : undefined);

export const typeTests: Record<string, (value: Json) => boolean> = {
  IsNull: (value) => value === null,
  IsString: (value) => typeof value === "string",
  IsNumeric: (value) => typeof value === "number",
  IsBoolean: (value) => typeof value === "boolean",
  IsTimestamp: (value) => asTimestamp(value) !== undefined,
};

export const comparisons: Record<string, Comparison> = {
  ...ordered("String", asString),
  ...ordered("Numeric", asNumber),
  ...ordered("Timestamp", asTimestamp),
  BooleanEquals: comparing(asBoolean, (a, b) => a === b),
  StringMatches: (value, pattern) =>
    typeof value === "string" && typeof pattern === "string" && wildcard(pattern).test(value),
};

interface OperandType {
  name: string;
  takes(operand: Json): boolean;
}

const operandTypes: [prefix: string, type: OperandType][] = [
  ["String", { name: "a string", takes: (operand) => asString(operand) !== undefined }],
  ["Numeric", { name: "a number", takes: (operand) => asNumber(operand) !== undefined }],
  ["Boolean", { name: "true or false", takes: (operand) => asBoolean(operand) !== undefined }],
  [
    "Timestamp",
    { name: "a timestamp such as 2026-01-31T12:00:00Z", takes: (operand) => asTimestamp(operand) !== undefined },
  ],
  ["Is", { name: "true or false", takes: (operand) => asBoolean(operand) !== undefined }],
];

/** What an operator may be given in the definition; nothing of those that take a path. */
export function operandTypeOf(operator: string): OperandType | undefined {
  if (operator.endsWith("Path")) return undefined;
  return operandTypes.find(([prefix]) => operator.startsWith(prefix))?.[1];
}

function ordered(type: string, read: Reading): Record<string, Comparison> {
  return {
    [`${type}Equals`]: comparing(read, (a, b) => a === b),
    [`${type}LessThan`]: comparing(read, (a, b) => a < b),
    [`${type}GreaterThan`]: comparing(read, (a, b) => a > b),
    [`${type}LessThanEquals`]: comparing(read, (a, b) => a <= b),
    [`${type}GreaterThanEquals`]: comparing(read, (a, b) => a >= b),
  };
}

function comparing<T extends NonNullable<ReturnType<Reading>>>(
  read: Reading,
  holds: (a: T, b: T) => boolean,
): Comparison {
  return (value, expected) => {
    const a = read(value);
    const b = read(expected);
    return a !== undefined && b !== undefined && holds(a as T, b as T);
  };
}

/** `*` stands for any characters; `\*` is a star, `\\` a backslash. */
function wildcard(pattern: string): RegExp {
  const source = pattern.replace(/\\([\\*])|[\s\S]/g, (character, escaped: string | undefined) => {
    if (escaped === undefined && character === "*") return "[\\s\\S]*";
    return (escaped ?? character).replace(/[.*+?^${}()|[\]\\/]/, "\\$&");
  });
  return new RegExp(`^${source}$`);
}
