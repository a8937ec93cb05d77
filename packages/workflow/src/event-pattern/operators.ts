import { decimalOf, textOfDecimal } from "../json/digits.ts";
import { isRawNumber, type RawNumber } from "../json/exact.ts";

/** Explains why a text is no wildcard. `*` stands for any characters, `\*` and `\\` for themselves. */
export function wildcardProblem(wildcard: string): string | undefined {
  if (/^(?:[^\\]|\\[\\*])*$/s.test(wildcard)) {
    return /(?<!\\)(?:\\\\)*\*\*/.test(wildcard) ? "must not have two * in a row" : undefined;
  }
  return "must have \\* or \\\\ where it has a \\";
}

/** Returns the wildcard that matches only this text. */
export function asWildcard(text: string): string {
  return text.replaceAll(/[\\*]/g, "\\$&");
}

/** Takes linear time: it searches the pieces between the stars from left to right. */
export function fitsWildcard(wildcard: string, text: string): boolean {
  const pieces = piecesOf(wildcard);
  const [first = "", last = ""] = [pieces[0], pieces.at(-1)];
  if (pieces.length === 1) return text === first;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

function piecesOf(wildcard: string): string[] {
  const pieces = [""];
  for (const [token] of wildcard.matchAll(/\\[\\*]|./gs)) {
    if (token === "*") pieces.push("");
    else pieces[pieces.length - 1] += token.length === 2 ? token.slice(1) : token;
  }
  return pieces;
}

interface Operator {
  /** The condition that the operand violates; undefined for a valid operand. */
  problem(operand: Matchable): string | undefined;
  /** True if a value fits. The operand must be valid. */
  fits(operand: Matchable, leaf: Leaf): boolean;
}

/** Builds an operator on texts with a text as its operand. */
function onText(fits: (operand: string, text: string) => boolean, problem?: Operator["problem"]): Operator {
  return {
    problem: (operand) => (typeof operand !== "string" ? "must be a text" : problem?.(operand)),
    fits: (operand, leaf) => typeof operand === "string" && typeof leaf === "string" && fits(operand, leaf),
  };
}

const textOperators = {
  prefix: onText((start, text) => text.startsWith(start)),
  suffix: onText((end, text) => text.endsWith(end)),
  "equals-ignore-case": onText((other, text) => text.toLowerCase() === other.toLowerCase()),
  wildcard: onText(fitsWildcard, (operand) => wildcardProblem(String(operand))),
} satisfies Record<string, Operator>;

const comparisons: Record<string, (value: number, bound: number) => boolean> = {
  "=": (value, bound) => value === bound,
  "<": (value, bound) => value < bound,
  "<=": (value, bound) => value <= bound,
  ">": (value, bound) => value > bound,
  ">=": (value, bound) => value >= bound,
};

/** `[">", 0, "<=", 5]`: all comparisons must hold. */
const numeric: Operator = {
  problem: (operand) => {
    const pairs = pairsOf(operand);
    const isRight = pairs.every(([sign, bound]) => comparisonOf(sign) !== undefined && numberOf(bound) !== undefined);
    const isFine = pairs.length > 0 && pairs.length <= 2 && isRight;
    return isFine ? undefined : 'must be such as [">", 0] or [">", 0, "<=", 5]';
  },
  fits(operand, leaf) {
    const value = numberOf(leaf);
    if (value === undefined) return false;
    const holds = ([sign, bound]: Matchable[]) => comparisonOf(sign)?.(value, numberOf(bound) ?? Number.NaN) === true;
    return pairsOf(operand).every(holds);
  },
};

function comparisonOf(sign: Matchable | undefined) {
  return typeof sign === "string" && Object.hasOwn(comparisons, sign) ? comparisons[sign] : undefined;
}

/** EventBridge compares numbers as binary64. */
function numberOf(value: Matchable | undefined): number | undefined {
  if (value === undefined || Array.isArray(value) || isFields(value)) return undefined;
  const text = numberText(value);
  return text === undefined ? undefined : Number(text);
}

function pairsOf(operand: Matchable): Matchable[][] {
  if (!Array.isArray(operand)) return [];
  const starts = operand.flatMap((_, index) => (index % 2 === 0 ? [index] : []));
  return starts.map((start) => operand.slice(start, start + 2));
}

const anythingBut: Operator = {
  problem: (operand) => {
    const shape = "must be a value, a list of texts or numbers, or one of prefix, suffix, equals-ignore-case, wildcard";
    if (isOperation(operand)) {
      const [name = "", inner = null] = Object.entries(operand)[0] ?? [];
      return isTextOperator(name) ? textOperators[name].problem(inner) : shape;
    }
    const values = Array.isArray(operand) ? operand : [operand];
    const isRight = values.every((value) => typeof value === "string" || numberOf(value) !== undefined);
    return values.length > 0 && isRight ? undefined : shape;
  },
  fits: (operand, leaf) => {
    if (!isOperation(operand)) return ![operand].flat().some((value) => isSameLeaf(value as Leaf, leaf));
    const [name = "", inner = null] = Object.entries(operand)[0] ?? [];
    return !isTextOperator(name) || !textOperators[name].fits(inner, leaf);
  },
};

/** Sees only present values. The caller handles `false`. */
const exists: Operator = {
  problem: (operand) => (typeof operand === "boolean" ? undefined : "must be true or false"),
  fits: (operand) => operand === true,
};

const operators = { ...textOperators, "anything-but": anythingBut, numeric, exists };

export const operatorNames = Object.keys(operators);

export function operatorOf(name: string): Operator | undefined {
  return Object.hasOwn(operators, name) ? operators[name as keyof typeof operators] : undefined;
}

function isTextOperator(name: string): name is keyof typeof textOperators {
  return Object.hasOwn(textOperators, name);
}

/** An object with one field, the name of the operator. */
export function isOperation(value: Matchable): value is { [name: string]: Matchable } {
  return isFields(value) && Object.keys(value).length === 1;
}

/** A scalar value in an event or in a list of a pattern. */
export type Leaf = string | number | boolean | null | RawNumber;

/** JSON with numbers of JavaScript or with exact digits. */
export type Matchable = Leaf | Matchable[] | { [name: string]: Matchable };

export interface MatchableObject {
  [name: string]: Matchable;
}

/**
 * Compares two scalars. Numbers are equal by value: 850, 850.0 and 8.5e2 are equal, 12345678901234567890 and
 * 12345678901234567891 are not. A number that JavaScript rounded before it reached the pattern is compared as binary64,
 * as EventBridge does.
 */
export function isSameLeaf(wanted: Leaf, leaf: Leaf): boolean {
  const [one, other] = [numberText(wanted), numberText(leaf)];
  if (one === undefined || other === undefined) return wanted === leaf;
  if (one === other) return true;
  if (Number(one) !== Number(other)) return false;
  return one === String(Number(one)) || textOfDecimal(decimalOf(one)) === textOfDecimal(decimalOf(other));
}

/** The digits of a number; undefined for other values. */
export function numberText(leaf: Leaf): string | undefined {
  if (isRawNumber(leaf)) return leaf.rawJSON;
  return typeof leaf === "number" ? String(leaf) : undefined;
}

export function isFields(value: unknown): value is MatchableObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}
