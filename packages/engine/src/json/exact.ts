import { type ExactValue, isRawNumber, parseExact } from "@nova/workflow";

/** The value at a dot path such as `email.attachments.0.name`, as JSON text; undefined where the path leads nowhere. */
export function valueAt(text: string, path: readonly string[]): string | undefined {
  if (path.length === 0) return text;
  let value: ExactValue | undefined = parseExact(text);
  for (const step of path) {
    if (value === null || typeof value !== "object" || isRawNumber(value)) return undefined;
    // Own and enumerable: a member or an item, not a list's `length`.
    if (!Object.prototype.propertyIsEnumerable.call(value, step)) return undefined;
    value = (value as { [key: string]: ExactValue })[step];
  }
  return value === undefined ? undefined : JSON.stringify(value);
}
