import { expect, it } from "vitest";
import { z } from "zod";
import { knownFields } from "../../../packages/workflow/src/parse/issues.ts";

const inner = z.strictObject({ delay: z.number(), deep: z.strictObject({ end: z.string() }).optional() });
const Schema = z.strictObject({
  plain: z.string(),
  maybe: inner.optional(),
  usual: inner.prefault({ delay: 1 }),
  made: z.union([z.string(), inner]).transform(String).describe("Becomes a text.").optional(),
  open: z.record(z.string(), z.json()).optional(),
});

it.each([
  [[], ["plain", "maybe", "usual", "made", "open"]],
  [["plain"], []],
  [["maybe"], ["delay", "deep"]],
  [["usual"], ["delay", "deep"]],
  [["made"], ["delay", "deep"]],
  [["maybe", "deep"], ["end"]],
  [["maybe", "deep", "end"], []],
  [["open", "anything"], []],
  [["nothing"], []],
])("the known fields at %j are %j", (path, fields) => {
  expect(knownFields(Schema, path)).toEqual(fields);
});
