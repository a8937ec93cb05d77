import { texts } from "../../texts.ts";
import { type Draft, isBlank } from "./draft.ts";
import type { Bound, Field, FieldShape } from "./schema.ts";

/** Sentences by path in the form: `.2.0` is the first member of the third field. */
export type Problems = ReadonlyMap<string, string>;

const words = texts.form.problems;

/** Checks drafts before they are sent. The server checks again. */
export function findProblems(fields: readonly Field[], drafts: readonly Draft[]): Problems {
  return new Map(checkMembers(fields, drafts, ""));
}

type Found = [place: string, sentence: string][];

function checkMembers(fields: readonly Field[], drafts: readonly Draft[], place: string): Found {
  return fields.flatMap(({ shape, isRequired }, index) => {
    const draft = drafts[index];
    return draft ? checkValue(shape, draft, isRequired, `${place}.${index}`) : [];
  });
}

function checkValue(shape: FieldShape, draft: Draft, isRequired: boolean, place: string): Found {
  if (draft.kind === "object") {
    if (shape.kind !== "object" || (!isRequired && isBlank(draft))) return [];
    return checkMembers(shape.fields, draft.members, place);
  }
  if (draft.kind === "list") return shape.kind === "list" ? checkList(shape, draft, isRequired, place) : [];
  const mayBeBlank = shape.kind === "text" && shape.minLength === 0 && place.endsWith("]");
  if (isBlank(draft)) return isRequired && !mayBeBlank ? [[place, words.required]] : [];
  const sentence = draft.kind === "any" ? checkAny(draft) : checkScalar(shape, draft.text);
  return sentence === undefined ? [] : [[place, sentence]];
}

function checkList(
  { element, minItems, maxItems }: Extract<FieldShape, { kind: "list" }>,
  { elements }: Extract<Draft, { kind: "list" }>,
  isRequired: boolean,
  place: string,
): Found {
  if (!isRequired && elements.length === 0) return [];
  if (elements.length < minItems) return [[place, words.fewItems(minItems)]];
  if (maxItems !== undefined && elements.length > maxItems) return [[place, words.manyItems(maxItems)]];
  return elements.flatMap(({ id, draft }) => checkValue(element, draft, true, `${place}[${id}]`));
}

function checkAny({ mode, text }: Extract<Draft, { kind: "any" }>): string | undefined {
  if (mode !== "json") return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return words.json;
  }
}

function checkScalar(shape: FieldShape, text: string): string | undefined {
  if (shape.kind === "number") return checkNumber(shape, text.trim());
  if (shape.kind !== "text") return undefined;
  // JSON Schema counts characters, not UTF-16 units.
  const { length } = Array.from(text);
  if (length < shape.minLength) return words.short(shape.minLength);
  if (shape.maxLength !== undefined && length > shape.maxLength) return words.long(shape.maxLength);
  const isMoment = shape.input !== "datetime-local" || !Number.isNaN(Date.parse(text));
  return isMoment ? undefined : words.moment;
}

const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const integer = /^-?(0|[1-9]\d*)(\.0+)?$/;

function checkNumber({ isInteger, bounds }: Extract<FieldShape, { kind: "number" }>, text: string): string | undefined {
  if (!number.test(text)) return isInteger ? words.integer : words.number;
  if (isInteger && !integer.test(text)) return words.integer;
  const broken = bounds.find((bound) => !isWithin(text, bound));
  return broken && words[broken.is](broken.limit);
}

function isWithin(text: string, { limit, is }: Bound): boolean {
  const order = compareNumbers(text, limit);
  if (is === "min") return order >= 0;
  if (is === "max") return order <= 0;
  return is === "above" ? order > 0 : order < 0;
}

/** Compares integers exactly, and other numbers as floating point. */
function compareNumbers(a: string, b: string): number {
  const areWhole = [a, b].every((one) => /^-?\d+$/.test(one));
  const [x, y] = areWhole ? [BigInt(a), BigInt(b)] : [Number(a), Number(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}
