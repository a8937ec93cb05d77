/** A JSON value whose numbers keep their digits: `JSON.rawJSON` wraps them, and `JSON.stringify` writes them back. */
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

/** Parses JSON, and wraps only those numbers that JavaScript would change. */
export function parseKeepingDigits(text: string): unknown {
  return json.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && source !== String(value) ? json.rawJSON(source) : value,
  );
}

export function isRawNumber(value: unknown): value is RawNumber {
  return json.isRawJSON(value);
}

/**
 * A JSON object as written. It is stored as text if JavaScript would change one of its numbers, such as 850.0, 1e2 or
 * 12345678901234567890.
 */
export type WrittenJson = JsonObject | string;

export type Exactly = (path: string) => WrittenJson;

/** Returns the object, or its text if JavaScript would change its numbers. */
export function keepingDigits(text: string): WrittenJson {
  const written = JSON.stringify(parseExact(text));
  const value = JSON.parse(text) as JsonObject;
  return JSON.stringify(value) === written ? value : written;
}

export function objectOf(written: WrittenJson): JsonObject {
  return typeof written === "string" ? JSON.parse(written) : written;
}

export function textOfJson(written: WrittenJson): string {
  return typeof written === "string" ? written : JSON.stringify(written);
}

export function exactOf(written: WrittenJson): ExactValue {
  return parseExact(textOfJson(written));
}

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** A JSON object with unchecked fields. */
export type Loose = Record<string, unknown>;

export function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
