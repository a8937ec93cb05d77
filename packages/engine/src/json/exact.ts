/**
 * A JSON value in memory whose numbers keep their digits: `parseExact` wraps every number in `JSON.rawJSON`, which
 * `JSON.stringify` writes back as it was. For the few places that must look inside a value.
 */
export type ExactValue = null | boolean | string | RawNumber | ExactValue[] | { [key: string]: ExactValue };

export interface RawNumber {
  readonly rawJSON: string;
}

interface JsonWithSource {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
}

const json = JSON as unknown as JsonWithSource;

export function parseExact(text: string): ExactValue {
  return json.parse(text, (_key, value, context) =>
    typeof value === "number" ? json.rawJSON(context.source ?? String(value)) : value,
  ) as ExactValue;
}

export function isRawNumber(value: unknown): value is RawNumber {
  return json.isRawJSON(value);
}

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
