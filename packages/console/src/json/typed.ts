import { Raw } from "./raw.ts";

/** The text of an object, which stays as it was written; undefined where it is none. */
export function objectIn(text: string): Raw | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? new Raw(text.trim()) : undefined;
  } catch {
    return undefined;
  }
}
