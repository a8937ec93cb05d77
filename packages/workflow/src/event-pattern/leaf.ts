import { isRawNumber, type RawNumber } from "../json/exact.ts";

/** A value at the end of a way, in an event or in a list of a pattern: no list, no object. */
export type Leaf = string | number | boolean | null | RawNumber;

/** JSON whose numbers are JavaScript's or have kept their digits. */
export type Matchable = Leaf | Matchable[] | { [name: string]: Matchable };

export interface MatchableObject {
  [name: string]: Matchable;
}

/**
 * Texts, `true`, `false` and `null` are themselves. Numbers are the same where they are the same number, however they are
 * written: 850, 850.0 and 8.5e2 are, 12345678901234567890 and 12345678901234567891 are not. What JavaScript has rounded on
 * its way into a pattern counts as EventBridge counts it, which compares binary64.
 */
export function isSameLeaf(wanted: Leaf, leaf: Leaf): boolean {
  const [one, other] = [numberText(wanted), numberText(leaf)];
  if (one === undefined || other === undefined) return wanted === leaf;
  if (one === other) return true;
  if (Number(one) !== Number(other)) return false;
  return one === String(Number(one)) || decimalOf(one) === decimalOf(other);
}

/** The digits of a number; undefined for what is none. */
export function numberText(leaf: Leaf): string | undefined {
  if (isRawNumber(leaf)) return leaf.rawJSON;
  return typeof leaf === "number" ? String(leaf) : undefined;
}

/** Digits without zeros at either end, and the power of ten behind them. */
function decimalOf(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  const digits = whole + fraction;
  let [start, end] = [0, digits.length];
  while (start < end && digits[start] === "0") start++;
  while (end > start && digits[end - 1] === "0") end--;
  if (start === end) return "0";
  return `${sign}${digits.slice(start, end)}e${BigInt(exponent) + BigInt(whole.length - end)}`;
}

export function isFields(value: unknown): value is MatchableObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}
