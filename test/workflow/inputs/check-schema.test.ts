import { describe, expect, it } from "vitest";
import { linearPattern, PatternRefused } from "../../../packages/workflow/src/inputs/ajv.ts";
import { checkSchema, endlessReference } from "../../../packages/workflow/src/inputs/check-schema.ts";

it.each([
  [{ $ref: "#" }, ["$ref"]],
  [{ allOf: [{ $ref: "#" }] }, ["allOf", 0, "$ref"]],
  [
    { properties: { x: { anyOf: [{ type: "string" }, { $ref: "#/properties/x" }] } } },
    ["properties", "x", "anyOf", 1, "$ref"],
  ],
  [{ $defs: { a: { $ref: "#/$defs/b" }, b: { not: { $ref: "#/$defs/a" } } } }, ["$defs", "a", "$ref", "not", "$ref"]],
  [{ dependentSchemas: { a: { if: { $ref: "#" } } } }, ["dependentSchemas", "a", "if", "$ref"]],
])("the JSON schema %j is refused because a reference in it leads back to itself", (schema, place) => {
  expect(endlessReference(schema)).toEqual(place);
});

it.each([
  [{ properties: { children: { type: "array", items: { $ref: "#" } } } }],
  [
    {
      $defs: { tree: { properties: { left: { $ref: "#/$defs/tree" } } } },
      properties: { t: { $ref: "#/$defs/tree" } },
    },
  ],
  [{ allOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }], $defs: { a: { type: "object" } } }],
  [{ $ref: "https://example.com/schema" }],
  [{ $ref: "#/nowhere" }],
  [{ properties: { $ref: { type: "string" } } }],
])("the JSON schema %j is not refused, because no reference in it leads back to itself without end", (schema) => {
  expect(endlessReference(schema)).toBeUndefined();
});

it("an endless reference in a JSON schema is reported with its path", () => {
  const { problems } = checkSchema({ properties: { x: { anyOf: [{ $ref: "#/properties/x" }] } } });
  const message = expect.stringMatching(/^this \$ref leads back to itself .* refer to it from properties or items$/);
  expect(problems).toEqual([{ segments: ["properties", "x", "anyOf", 0, "$ref"], message }]);
});

describe("a pattern in a JSON schema", () => {
  it("is matched in linear time, even where ECMAScript would take years", () => {
    expect(linearPattern("^(a+)+$").test(`${"a".repeat(100_000)}!`)).toBe(false);
    expect(linearPattern("^(a|a)*$").test(`${"a".repeat(100_000)}!`)).toBe(false);
  });

  it.each([
    ["^\\d{4}-\\d\\d$", "2026-11", "2026-1"],
    ["b+", "abc", "ac"],
    ["^\\/x\\u00e9$", "/xé", "/xe"],
    ["^(?<year>\\d+)$", "2026", "y"],
    ["^\\p{Lu}", "Äpfel", "äpfel"],
    ["^[\\w.+-]+@[\\w-]+\\.[a-z]{2,}$", "ann@example.com", "ann@example"],
    ["^.$", "😀", "ab"],
  ])("matches the same texts as in ECMAScript: %s", (pattern, fitting, other) => {
    expect([fitting, other].map((text) => linearPattern(pattern).test(text))).toEqual([true, false]);
    expect([fitting, other].map((text) => new RegExp(pattern, "u").test(text))).toEqual([true, false]);
  });

  it.each(["(?=a)b", "(?<!a)b", "(a)\\1", "(?<n>a)\\k<n>", "x{1001}", "((a{1000}){1000}){1000}"])(
    "is refused with advice if RE2 cannot run it: %s",
    (pattern) => {
      expect(() => linearPattern(pattern)).toThrow(/RE2.* cannot run the pattern .* - write it without backreferences/);
    },
  );

  it("is refused if it is too long or is not a valid regular expression", () => {
    expect(() => linearPattern("(")).toThrow(/is no regular expression: .* - correct it/);
    expect(() => linearPattern("a**")).toThrow(PatternRefused);
    expect(() => linearPattern("a".repeat(1001))).toThrow(/has 1001 characters, at most 1000 are taken - /);
  });
});
