import { onlyPath, templateParts } from "../template/template.ts";
import {
  isFields,
  isOperation,
  isSameLeaf,
  type Leaf,
  type Matchable,
  type MatchableObject,
  operatorNames,
  operatorOf,
} from "./operators.ts";

export interface PatternProblem {
  segments: (string | number)[];
  /** Completes a sentence about the pattern. */
  message: string;
}

/** Finds the reasons why an object is no event pattern. */
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

/** Returns the replacement of a text in a pattern; `operator` is the operator that the text belongs to. */
type ReplaceText = (text: string, operator: string | undefined) => Matchable;

/** Replaces each text in the lists of a pattern, including operands. */
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

/** Returns the dot paths in the templates of a pattern, in order. */
export function pathsInPattern(pattern: MatchableObject): string[] {
  const paths: string[] = [];
  replaceTexts(pattern, (text) => {
    paths.push(...templateParts(text).flatMap((part) => (part.kind === "path" ? [part.path] : [])));
    return text;
  });
  return paths;
}

/** Returns the pattern as it may look after binding: a template stands for a number where one is required. */
export function asIfBound(pattern: MatchableObject): MatchableObject {
  return replaceTexts(pattern, (text, operator) => (operator === "numeric" && onlyPath(text) !== undefined ? 0 : text));
}

/**
 * Matches an event against an EventBridge event pattern. Every field of the pattern must find one of its values in the
 * event. One element of an event's list is enough, but it must match all fields below it. Source: Amazon EventBridge
 * User Guide, "Event patterns".
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

/** Returns the scalars of an event at the end of a path of names, through any lists. */
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
