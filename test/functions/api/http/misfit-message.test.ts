import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Misfit, parse } from "../../../../functions/api/http/errors.ts";
import { Moment, Name, Slug, WorkflowId } from "../../../../functions/api/schemas/values.ts";

/** Returns the message about the value at the path of the misfit. */
function said(schema: z.ZodType, value: unknown): string {
  try {
    parse(schema, value, "the body", 422);
  } catch (error) {
    if (error instanceof Misfit) return error.errors.map(({ message }) => message).join("; ");
    throw error;
  }
  return "";
}

describe("the message about a misfit", () => {
  it.each([
    ["a missing field", z.object({ name: z.string() }), {}, "it is missing - send a text"],
    ["a missing list", z.object({ a: z.array(z.int()) }), {}, "it is missing - send a list"],
    ["a text for a number", z.number(), "5544", "it has to be a number, not a text"],
    ["a text for a whole number", z.int(), "5544", "it has to be a number, not a text"],
    ["a list for an object", z.object({}), [], "it has to be an object, not a list"],
    ["a number for a text", z.string(), 1, "it has to be a text, not a number"],
    ["a fraction", z.int(), 1.5, "it has to be a whole number, not a fraction"],
    ["null for an object", z.object({}), null, "it has to be an object, not null"],
    ["null for a flag", z.boolean(), null, "it has to be true or false, not null"],
    ["an unknown field", z.strictObject({}), { clinet: 1 }, '"clinet" is not known here - correct or remove it'],
    ["one word for another", z.enum(["a", "b"]), "c", 'it has to be "a" or "b"'],
    ["too small a number", z.number().min(1), 0, "it has to be at least 1"],
    ["too large a number", z.number().max(9), 10, "it has to be at most 9"],
    ["no text", z.string().min(1), "", "it has to be at least 1 characters long"],
    ["too long a text", z.string().max(2), "abc", "it has to be at most 2 characters long"],
    ["too long a list", z.array(z.int()).max(1), [1, 2], "it has to be a list of at most 1"],
    ["no mail address", z.email(), "x", "it has to be a mail address"],
    ["no time", z.iso.datetime(), "x", "it has to be a time, such as 2026-11-22T09:30:00Z"],
    [
      "a text in another format",
      z.string().regex(/^a$/),
      "b",
      "it has another form than GET /openapi.json shows - correct it",
    ],
    [
      "an invalid name",
      z.record(WorkflowId, z.int()),
      { "Bad Id": 1 },
      'its name does not fit: it has to be lower-case letters, digits and dashes, at most 64, with no dash first - such as "bad-id"',
    ],
  ])("describes %s", (_what, schema, value, message) => {
    expect(said(schema, value)).toBe(message);
  });

  it("is the schema's own message if it has one", () => {
    expect(said(z.string("only a text will do"), 1)).toBe("only a text will do");
  });

  it.each([
    [Slug, "Bad Slug", /lower-case letters, digits and dashes, at most 63/],
    [WorkflowId, "-a", /at most 64, with no dash first/],
    [Name, "\u001b[2J", /1 to 200 characters/],
    [Moment, "yesterday", /a date or a time with its zone, such as 2026-11-22 or/],
  ])("does not show a pattern (%#)", (schema, value, message) => {
    expect(said(schema, value)).toMatch(message);
    expect(said(schema, value)).not.toMatch(/pattern|Invalid|\^/);
  });
});
