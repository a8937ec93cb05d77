import { isRawNumber } from "@nova/engine";
import { Placeholder } from "../schema/placeholder.ts";

/** The value with every text and key in it masked, and every number that holds a secret's digits. */
export function maskValue(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return value.map((item) => maskValue(item, mask));
  if (value instanceof Placeholder) return value.text;
  const digits = typeof value === "number" ? String(value) : isRawNumber(value) ? value.rawJSON : undefined;
  if (digits !== undefined) return mask(digits) === digits ? value : mask(digits);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [mask(key), maskValue(member, mask)]));
}
