import { parseExact } from "./exact.ts";
import type { JsonObject } from "./value.ts";

/**
 * JSON that people wrote into a definition: an object where that says the same, else its text, for numbers such as
 * 12345678901234567890, 850.0 and 1e2 would not come out of an object as they went in.
 */
export type WrittenJson = JsonObject | string;

/** Of the text of an object. */
export function keepingDigits(text: string): WrittenJson {
  const written = JSON.stringify(parseExact(text));
  const value = JSON.parse(text) as JsonObject;
  return JSON.stringify(value) === written ? value : written;
}

/** The text, every number as it was written. */
export function textOfJson(written: WrittenJson): string {
  return typeof written === "string" ? written : JSON.stringify(written);
}
