import type { z } from "zod";

/** A request that NOVA cannot read, or that exceeds a limit. */
export class Unreadable extends Error {
  override name = "Unreadable";
  readonly status: 400 | 413 | 415;

  constructor(status: 400 | 413 | 415, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

export class MethodNotAllowed extends Error {
  override name = "MethodNotAllowed";
  readonly allowed: string[];

  constructor(method: string, allowed: string[]) {
    super(`${method} is not possible here - use ${allowed.join(" or ")}`);
    this.allowed = allowed;
  }
}

/** A value that does not fit its schema; `errors` names each wrong field by its path. */
export class Misfit extends Error {
  override name = "Misfit";
  readonly status: 400 | 422;
  readonly errors: { path: string; message: string }[];

  constructor(status: 400 | 422, what: string, errors: { path: string; message: string }[]) {
    super(`${what} does not fit: ${errors.map(({ path, message }) => `${path}: ${message}`).join("; ")}`);
    this.status = status;
    this.errors = errors;
  }
}

/**
 * Parses `value` with the schema. Throws `Misfit` if the value does not fit; the error lists each wrong field with its
 * path.
 */
export function parse<T>(schema: z.ZodType<T>, value: unknown, what: string, status: 400 | 422): T {
  const result = schema.safeParse(value, { error: misfitMessage });
  if (result.success) return result.data;
  const errors = result.error.issues.slice(0, maxErrors).map(({ path, message }) => ({
    path: path.length === 0 ? "$" : `$.${path.join(".")}`,
    message,
  }));
  throw new Misfit(status, what, errors);
}

const maxErrors = 20;

type Issue = z.core.$ZodRawIssue;

const kinds: Record<string, string> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
  date: "a date, such as 2026-11-22",
  datetime: "a time, such as 2026-11-22T09:30:00Z",
  email: "a mail address",
  url: "an address, such as https://example.com/",
};

/**
 * Returns the sentence that tells the sender of a request why one field does not fit. If the function returns
 * undefined, the sender gets zod's own sentence.
 */
export function misfitMessage(issue: Issue): string | undefined {
  if (issue.code === "invalid_type") return wrongType(issue.expected as string, issue.input);
  if (issue.code === "invalid_value") return `it has to be ${listed(issue.values as unknown[])}`;
  if (issue.code === "unrecognized_keys")
    return `${listed(issue.keys as string[])} is not known here - correct or remove it`;
  if (issue.code === "too_small") return `it has to be ${size("at least", issue.minimum as number, issue.origin)}`;
  if (issue.code === "too_big") return `it has to be ${size("at most", issue.maximum as number, issue.origin)}`;
  if (issue.code === "invalid_key") return `its name does not fit: ${(issue.issues as z.core.$ZodIssue[])[0]?.message}`;
  if (issue.code !== "invalid_format") return undefined;
  const kind = kinds[issue.format as string];
  return kind ? `it has to be ${kind}` : "it has another form than GET /openapi.json shows - correct it";
}

function wrongType(expected: string, input: unknown): string {
  const kind = kinds[expected] ?? expected;
  return input === undefined ? `it is missing - send ${kind}` : `it has to be ${kind}, not ${kindOf(input)}`;
}

function kindOf(input: unknown): string {
  if (input === null) return "null";
  if (Array.isArray(input)) return "a list";
  if (typeof input === "number" && !Number.isInteger(input)) return "a fraction";
  return (
    { string: "a text", number: "a number", boolean: "true or false", object: "an object" }[typeof input as string] ??
    typeof input
  );
}

function listed(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(" or ");
}

function size(bound: string, number: number, origin: unknown): string {
  if (origin === "string") return `${bound} ${number} characters long`;
  if (origin === "array" || origin === "set") return `a list of ${bound} ${number}`;
  return `${bound} ${number}`;
}
