import type { JsonObject } from "./value.ts";

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

/**
 * JSON that people wrote into a definition: an object where that says the same, else its text, for numbers such as
 * 12345678901234567890, 850.0 and 1e2 would not come out of an object as they went in.
 */
export type WrittenJson = JsonObject | string;

/** The JSON object at a path of a definition. */
export type Exactly = (path: string) => WrittenJson;

/** Of the text of an object. */
export function keepingDigits(text: string): WrittenJson {
  const written = JSON.stringify(parseExact(text));
  const value = JSON.parse(text) as JsonObject;
  return JSON.stringify(value) === written ? value : written;
}

/** The object, its numbers as doubles. */
export function objectOf(written: WrittenJson): JsonObject {
  return typeof written === "string" ? JSON.parse(written) : written;
}

/** The text, every number as it was written. */
export function textOfJson(written: WrittenJson): string {
  return typeof written === "string" ? written : JSON.stringify(written);
}
