import { onlyPath, templateParts } from "../template/template.ts";
import { isFields, type Matchable, type MatchableObject } from "./leaf.ts";

/** Answers what stands where a text of a pattern stood; `operator` is the one that the text belongs to. */
export type ReplaceText = (text: string, operator: string | undefined) => Matchable;

/** The pattern with something else for each text in its lists, those of operators among them. */
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

/** The paths that a pattern names, in order. */
export function pathsInPattern(pattern: MatchableObject): string[] {
  const paths: string[] = [];
  replaceTexts(pattern, (text) => {
    paths.push(...templateParts(text).flatMap((part) => (part.kind === "path" ? [part.path] : [])));
    return text;
  });
  return paths;
}

/** The pattern as it may look once it is bound: where a number has to be, a template stands for one. */
export function asIfBound(pattern: MatchableObject): MatchableObject {
  return replaceTexts(pattern, (text, operator) => (operator === "numeric" && onlyPath(text) !== undefined ? 0 : text));
}
