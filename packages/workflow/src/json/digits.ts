/**
 * The exact digits of numbers that `parseWithDigits` has read, by the object or list that holds the number. They are
 * stored beside the values, because libraries need plain JavaScript numbers.
 */
const digitsIn = new WeakMap<object, Map<string, string>>();

type Reviver = (this: object, key: string, value: unknown, context: { source?: string }) => unknown;

const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;

/**
 * Matches a JSON text that may have a number that no double represents: one of more than 15 digits, or with an
 * exponent.
 */
const mayLoseDigits = /[\d.]{16}|\d[eE][-+]?\d/;

/**
 * Parses JSON and returns the value under the empty key. A number that no double represents becomes a finite
 * substitute; `digitsOf` returns its digits.
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
  // If the text is only a number, `JSON.parse` passes an object of its own as the holder of the number. The digits must
  // be noted for `root` as well.
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

export function digitsOf(holder: object, key: string | number): string {
  return digitsIn.get(holder)?.get(String(key)) ?? String((holder as Record<string | number, unknown>)[key]);
}

/**
 * Returns a text that is the same for equal values and no others. The order of fields is ignored; all digits of numbers
 * count.
 */
export function canonicalAt(holder: object, key: string | number): string {
  return textAt(holder, key, (digits) => textOfDecimal(decimalOf(digits)));
}

/** Returns the JSON text of a value from `parseWithDigits`, with its fields sorted by name. */
export function textAt(holder: object, key: string | number, ofNumber = (digits: string) => digits): string {
  const value = (holder as Record<string | number, unknown>)[key];
  if (typeof value === "number") return ofNumber(digitsOf(holder, key));
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((_, index) => textAt(value, index, ofNumber)).join(",")}]`;
  const fields = Object.keys(value).sort();
  return `{${fields.map((field) => `${JSON.stringify(field)}:${textAt(value, field, ofNumber)}`).join(",")}}`;
}

export function canonicalJson(text: string): string {
  return canonicalAt(parseWithDigits(text), "");
}

/** Returns true for JSON texts with equal values: `{"a": 1, "b": 2}` and `{"b": 2.0, "a": 1}`. */
export function isSameJson(a: string, b: string): boolean {
  return a === b || canonicalJson(a) === canonicalJson(b);
}

/**
 * The number `sign * digits * 10 ** exponent`. `digits` has no zeros at its ends. The number is never expanded, because
 * the exponent may be huge.
 */
export interface Decimal {
  sign: -1 | 0 | 1;
  digits: string;
  exponent: bigint;
}

const zero: Decimal = { sign: 0, digits: "", exponent: 0n };

/** Reads the text of a JSON number, or a finite `number` as JavaScript writes it. */
export function decimalOf(text: string): Decimal {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const written = (whole + fraction).replace(/^0+/, "");
  // Counts the zeros at the end in a loop, because a regular expression would take quadratic time.
  let end = written.length;
  while (written[end - 1] === "0") end--;
  if (end === 0) return zero;
  const shift = BigInt(written.length - end - fraction.length);
  return {
    sign: mantissa.startsWith("-") ? -1 : 1,
    digits: written.slice(0, end),
    exponent: BigInt(exponent.replace("+", "")) + shift,
  };
}

/**
 * Returns a text that is the same for equal numbers and no others: one text for 1, 1.0 and 10e-1, and one for 0 and -0.
 */
export function textOfDecimal({ sign, digits, exponent }: Decimal): string {
  return sign === 0 ? "0" : `${sign < 0 ? "-" : ""}${digits}e${exponent}`;
}

/**
 * Compares for sorting: returns a negative number if `a` is less than `b`, zero if they are equal, and a positive one
 * if `a` is greater.
 */
export function compareDecimals(a: Decimal, b: Decimal): number {
  if (a.sign !== b.sign || a.sign === 0) return a.sign - b.sign;
  return a.sign * compareSizes(a, b);
}

function compareSizes(a: Decimal, b: Decimal): number {
  const [sizeA, sizeB] = [a, b].map(({ digits, exponent }) => exponent + BigInt(digits.length)) as [bigint, bigint];
  if (sizeA !== sizeB) return sizeA < sizeB ? -1 : 1;
  return a.digits === b.digits ? 0 : a.digits < b.digits ? -1 : 1;
}

export function isWhole({ exponent }: Decimal): boolean {
  return exponent >= 0n;
}

/** A divisor of n decimal digits contains the factor 2 or 5 at most 4n times. */
const bitsOfDigit = 4;

export function isMultipleOf(value: Decimal, divisor: Decimal): boolean {
  if (value.sign === 0 || divisor.sign === 0) return divisor.sign !== 0;
  const shift = value.exponent - divisor.exponent;
  // The digits of `value` do not end in zero, so a divisor with a larger exponent does not divide it.
  if (shift < 0n) return false;
  // A power of ten can cancel only the factors 2 and 5 of the divisor, so a higher power changes nothing.
  const most = BigInt(divisor.digits.length * bitsOfDigit);
  return (BigInt(value.digits) * 10n ** (shift < most ? shift : most)) % BigInt(divisor.digits) === 0n;
}
