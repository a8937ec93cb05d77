import { isRawNumber } from "@nova/workflow";

/** A JSON value with secrets masked in all of its texts and keys; a number that is one becomes a text. */
export function maskValue(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value);
  const digits = typeof value === "number" ? String(value) : isRawNumber(value) ? value.rawJSON : undefined;
  if (digits !== undefined) return mask(digits) === digits ? value : mask(digits);
  if (Array.isArray(value)) return value.map((item) => maskValue(item, mask));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [mask(key), maskValue(item, mask)]));
}
