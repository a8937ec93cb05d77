import { z } from "zod";
import { Misfit } from "../http/errors.ts";

const nowhere = "no page ends there - use a `next_cursor`";

/** What a list takes that reads the table from end to end: a page is what some megabytes hold, however many that are. */
export const ScanQuery = z.strictObject({
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,8000}$/, nowhere)
    .optional()
    .meta({ description: "`next_cursor` of the page before" }),
});

/** Where DynamoDB ends a page of the table: it takes no other members, no empty keys, and none above its quotas. */
export const TablePlace = z.strictObject({ pk: keyOf(2048), sk: keyOf(1024) });

/** `mostBytes` as in DynamoDB's "Quotas": partition key values and sort key values. */
function keyOf(mostBytes: number) {
  const fits = (text: string) => text !== "" && text.isWellFormed() && Buffer.byteLength(text) <= mostBytes;
  return z.strictObject({ S: z.string().refine(fits) });
}

/** The place that a page before has named, as a store gave it. Throws `Misfit`. */
export function placeIn({ cursor }: z.infer<typeof ScanQuery>, like: z.ZodType): string | undefined {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, "base64url").toString();
  try {
    like.parse(JSON.parse(text));
    return text;
  } catch {
    throw new Misfit(400, "the query", [{ path: "$.cursor", message: nowhere }]);
  }
}

export function cursorOf(place: string | undefined): string | null {
  return place === undefined ? null : Buffer.from(place).toString("base64url");
}
