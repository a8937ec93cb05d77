import type { z } from "zod";

/**
 * What is wrong with a value where its schema does not say it itself: words that go on after its name, and repeat no
 * value.
 */
export function valueMisfit(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "unrecognized_keys") {
    const names = (issue.keys as string[]).map((name) => JSON.stringify(name)).join(" or ");
    return `this kind has no ${names} - correct or remove it`;
  }
  if (issue.code === "invalid_key") return (issue.issues as z.core.$ZodIssue[])[0]?.message;
  if (issue.format === "datetime") return "must be a time with its zone, such as 2026-11-22T09:30:00Z";
  return issue.expected === "object" || issue.expected === "record" ? "must be an object" : undefined;
}
