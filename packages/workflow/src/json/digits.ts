import { type Decimal, decimalOf, isWhole, textOfDecimal } from "./decimal.ts";

/**
 * JSON as JavaScript values, for libraries that know no others, with the digits of each number kept beside the object
 * or the list that holds it.
 */
const digitsIn = new WeakMap<object, Map<string, string>>();

type Reviver = (this: object, key: string, value: unknown, context: { source?: string }) => unknown;

const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;

/** A double has every number of up to 15 digits that it does not round to infinity or to zero. */
const mayLoseDigits = /[\d.]{16}|\d[eE][-+]?\d/;

/**
 * `JSON.parse`, in an object that has the value under the empty key. A number that no double has is there as a double of
 * its kind: finite, and whole only if the number is. `digitsOf` has its digits.
 */
export function parseWithDigits(text: string): { "": unknown } {
  if (!mayLoseDigits.test(text)) return { "": JSON.parse(text) };
  const root: { "": unknown } = { "": undefined };
  root[""] = parse(text, function (key, value, { source }) {
    if (typeof value !== "number" || source === undefined || String(value) === source) return value;
    const exact = decimalOf(source);
    if (Number.isFinite(value) && textOfDecimal(decimalOf(String(value))) === textOfDecimal(exact)) return value;
    noteDigits(this, key, source);
    return standIn(value, exact);
  });
  // `JSON.parse` has an object of its own around the value.
  const own = rootDigits.exec(text)?.[1];
  if (typeof root[""] === "number" && own !== undefined) noteDigits(root, "", own);
  return root;
}

const rootDigits = /^\s*(-?\d[\d.eE+-]*)\s*$/;

function noteDigits(holder: object, key: string, source: string): void {
  const known = digitsIn.get(holder) ?? new Map<string, string>();
  digitsIn.set(holder, known.set(key, source));
}

function standIn(value: number, exact: Decimal): number {
  if (!isWhole(exact)) return Number.isInteger(value) ? 0.5 * exact.sign : value;
  return Number.isFinite(value) ? value : Number.MAX_VALUE * exact.sign;
}

/** Text of the number that a value of `parseWithDigits` holds under this key. */
export function digitsOf(holder: object, key: string | number): string {
  return digitsIn.get(holder)?.get(String(key)) ?? String((holder as Record<string | number, unknown>)[key]);
}

/**
 * Text that two values have in common exactly if they are equal: the order of fields does not count, that of items
 * does, and numbers are equal by their value, to the last digit.
 */
export function canonicalAt(holder: object, key: string | number): string {
  return textAt(holder, key, (digits) => textOfDecimal(decimalOf(digits)));
}

/** JSON text of a value of `parseWithDigits`, with its fields in order of their names. */
export function textAt(holder: object, key: string | number, ofNumber = (digits: string) => digits): string {
  const value = (holder as Record<string | number, unknown>)[key];
  if (typeof value === "number") return ofNumber(digitsOf(holder, key));
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((_, index) => textAt(value, index, ofNumber)).join(",")}]`;
  const fields = Object.keys(value).sort();
  return `{${fields.map((field) => `${JSON.stringify(field)}:${textAt(value, field, ofNumber)}`).join(",")}}`;
}

/** Does the same for a JSON text. */
export function canonicalJson(text: string): string {
  return canonicalAt(parseWithDigits(text), "");
}

/** Whether two JSON texts are of equal values: `{"a": 1, "b": 2}` and `{"b": 2.0, "a": 1}` are. */
export function isSameJson(a: string, b: string): boolean {
  return a === b || canonicalJson(a) === canonicalJson(b);
}
