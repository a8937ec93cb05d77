import { decimalOf, textOfDecimal } from "../json/digits.ts";
import { isRawNumber, type RawNumber } from "../json/exact.ts";
import { onlyPath, templateParts } from "../template/template.ts";

/** Explains why a text is no wildcard. `*` stands for any characters, `\*` and `\\` for themselves. */
export function wildcardProblem(wildcard: string): string | undefined {
  if (/^(?:[^\\]|\\[\\*])*$/s.test(wildcard)) {
    return /(?<!\\)(?:\\\\)*\*\*/.test(wildcard) ? "must not have two * in a row" : undefined;
  }
  return "must have \\* or \\\\ where it has a \\";
}

export function asWildcard(text: string): string {
  return text.replaceAll(/[\\*]/g, "\\$&");
}

/**
 * Returns true if a text matches a wildcard. It takes linear time, because it searches the pieces between the stars
 * from left to right.
 */
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
  /** Says what the operand must be, if it is invalid; undefined for a valid operand. */
  problem(operand: Matchable): string | undefined;
  fits(operand: Matchable, leaf: Leaf): boolean;
}

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

/** Compares numbers: for `[">", 0, "<=", 5]`, both comparisons must be true. */
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

/** Converts a number to a JavaScript number, because EventBridge also compares numbers as binary64. */
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

/** The operator `exists`. It is only called for values that are present; `fitsOne` handles `"exists": false`. */
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

export function isOperation(value: Matchable): value is { [name: string]: Matchable } {
  return isFields(value) && Object.keys(value).length === 1;
}

export type Leaf = string | number | boolean | null | RawNumber;

/** A JSON value, whose numbers may be JavaScript numbers or have exact digits. */
export type Matchable = Leaf | Matchable[] | { [name: string]: Matchable };

export interface MatchableObject {
  [name: string]: Matchable;
}

/**
 * Returns true for equal scalars; 850 equals 8.5e2. If one number was rounded by JavaScript, the two are compared as
 * binary64, as EventBridge does.
 */
export function isSameLeaf(wanted: Leaf, leaf: Leaf): boolean {
  const [one, other] = [numberText(wanted), numberText(leaf)];
  if (one === undefined || other === undefined) return wanted === leaf;
  if (one === other) return true;
  if (Number(one) !== Number(other)) return false;
  return one === String(Number(one)) || textOfDecimal(decimalOf(one)) === textOfDecimal(decimalOf(other));
}

export function numberText(leaf: Leaf): string | undefined {
  if (isRawNumber(leaf)) return leaf.rawJSON;
  return typeof leaf === "number" ? String(leaf) : undefined;
}

export function isFields(value: unknown): value is MatchableObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

export interface PatternProblem {
  segments: (string | number)[];
  message: string;
}

export function* checkPattern(
  pattern: MatchableObject,
  segments: PatternProblem["segments"] = [],
): Iterable<PatternProblem> {
  const fields = Object.entries(pattern);
  if (fields.length === 0) yield { segments, message: 'names no field - write one, such as "source": ["shop"]' };
  for (const [name, wanted] of fields) yield* checkWanted(name, wanted, [...segments, name]);
}

function* checkWanted(name: string, wanted: Matchable, segments: PatternProblem["segments"]): Iterable<PatternProblem> {
  if (Array.isArray(wanted)) {
    if (wanted.length === 0) yield { segments, message: `"${name}" lists no value - add one` };
    for (const [index, one] of wanted.entries()) yield* checkValue(one, [...segments, index]);
  } else if (isFields(wanted)) yield* checkPattern(wanted, segments);
  else {
    const message = `"${name}" has a value by itself - write a list of values: [${JSON.stringify(wanted)}]`;
    yield { segments, message };
  }
}

function* checkValue(value: Matchable, segments: PatternProblem["segments"]): Iterable<PatternProblem> {
  if (!Array.isArray(value) && !isFields(value)) return;
  if (!isOperation(value)) {
    yield { segments, message: `has a value that is no text, number, true, false, null or operator - ${operatorsAre}` };
    return;
  }
  const [name = "", operand = null] = Object.entries(value)[0] ?? [];
  const operator = operatorOf(name);
  const problem = operator?.problem(operand);
  if (!operator)
    yield { segments: [...segments, name], message: `has the unknown operator "${name}" - ${operatorsAre}` };
  else if (problem)
    yield { segments: [...segments, name], message: `has an operator with a wrong value - ${name} ${problem}` };
}

const operatorsAre = `the operators are ${operatorNames.join(", ")}`;

/** Returns the replacement of a text in a pattern. `operator` names the operator whose operand the text is, if any. */
type ReplaceText = (text: string, operator: string | undefined) => Matchable;

/** Replaces each text in the lists of a pattern, including the operands of operators. */
export function replaceTexts(pattern: MatchableObject, replace: ReplaceText): MatchableObject {
  return Object.fromEntries(Object.entries(pattern).map(([name, wanted]) => [name, inWanted(wanted, replace)]));
}

function inWanted(wanted: Matchable, replace: ReplaceText): Matchable {
  if (isFields(wanted)) return replaceTexts(wanted, replace);
  return Array.isArray(wanted) ? wanted.map((one) => inValue(one, replace)) : wanted;
}

function inValue(value: Matchable, replace: ReplaceText, operator?: string): Matchable {
  if (typeof value === "string") return replace(value, operator);
  if (Array.isArray(value)) return value.map((one) => inValue(one, replace, operator));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, operand]) => [name, inValue(operand, replace, name)]));
}

/** Returns the dot paths of all templates in a pattern, in order. */
export function pathsInPattern(pattern: MatchableObject): string[] {
  const paths: string[] = [];
  replaceTexts(pattern, (text) => {
    paths.push(...templateParts(text).flatMap((part) => (part.kind === "path" ? [part.path] : [])));
    return text;
  });
  return paths;
}

/**
 * Returns a pattern to check before its templates are replaced: where an operator needs a number, a template becomes 0.
 */
export function asIfBound(pattern: MatchableObject): MatchableObject {
  return replaceTexts(pattern, (text, operator) => (operator === "numeric" && onlyPath(text) !== undefined ? 0 : text));
}

/**
 * Returns true if an event matches a pattern. If the event has a list, one element must match all fields of the pattern
 * below it (Amazon EventBridge, "Event patterns").
 */
export function matchesPattern(pattern: MatchableObject, event: MatchableObject): boolean {
  return Object.entries(pattern).every(([name, wanted]) =>
    fits(wanted, Object.hasOwn(event, name) ? event[name] : undefined),
  );
}

function fits(wanted: Matchable, value: Matchable | undefined): boolean {
  if (Array.isArray(wanted)) return wanted.some((one) => fitsOne(one, leavesOf(value)));
  if (!isFields(wanted)) return false;
  const objects = objectsOf(value);
  return (objects.length === 0 ? [{}] : objects).some((object) => matchesPattern(wanted, object));
}

function fitsOne(wanted: Matchable, leaves: Leaf[]): boolean {
  if (!isOperation(wanted)) return leaves.some((leaf) => isSameLeaf(wanted as Leaf, leaf));
  const [name = "", operand = null] = Object.entries(wanted)[0] ?? [];
  if (name === "exists" && operand === false) return leaves.length === 0;
  const operator = operatorOf(name);
  return operator !== undefined && leaves.some((leaf) => operator.fits(operand, leaf));
}

/** Returns the scalars of an event at a path of names. For a list on this path, all of its elements count. */
export function leavesAt(event: MatchableObject, [name = "", ...below]: readonly string[]): Leaf[] {
  const value = Object.hasOwn(event, name) ? event[name] : undefined;
  return below.length === 0 ? leavesOf(value) : objectsOf(value).flatMap((object) => leavesAt(object, below));
}

function leavesOf(value: Matchable | undefined): Leaf[] {
  if (Array.isArray(value)) return value.flatMap(leavesOf);
  return value === undefined || isFields(value) ? [] : [value];
}

function objectsOf(value: Matchable | undefined): MatchableObject[] {
  if (Array.isArray(value)) return value.flatMap(objectsOf);
  return isFields(value) ? [value] : [];
}
