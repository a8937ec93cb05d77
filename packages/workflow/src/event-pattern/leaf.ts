import { decimalOf, textOfDecimal } from "../json/decimal.ts";
import { isRawNumber, type RawNumber } from "../json/exact.ts";

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
