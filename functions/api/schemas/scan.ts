import { z } from "zod";
import { Misfit } from "../http/errors.ts";

/** What a list takes that reads the table from end to end: a page is what some megabytes hold, however many that are. */
export const ScanQuery = z.strictObject({
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,4000}$/)
    .optional()
    .meta({ description: "`next_cursor` of the page before" }),
});

/** The place that a page before has named, as a store gave it. Throws `Misfit`. */
export function placeIn({ cursor }: z.infer<typeof ScanQuery>, like: z.ZodType): string | undefined {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, "base64url").toString();
  try {
    like.parse(JSON.parse(text));
    return text;
  } catch {
    throw new Misfit(400, "the query", [{ path: "$.cursor", message: "no page ends there - use a `next_cursor`" }]);
  }
}

export function cursorOf(place: string | undefined): string | null {
  return place === undefined ? null : Buffer.from(place).toString("base64url");
}
