import { expect, it } from "vitest";
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
])("the schema %j never ends", (schema, place) => {
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
])("the schema %j ends with the value", (schema) => {
  expect(endlessReference(schema)).toBeUndefined();
});

it("an endless reference is a problem with its path", () => {
  const { problems } = checkSchema({ properties: { x: { anyOf: [{ $ref: "#/properties/x" }] } } });
  const message = expect.stringMatching(/^this \$ref leads back to itself .* refer to it from properties or items$/);
  expect(problems).toEqual([{ segments: ["properties", "x", "anyOf", 0, "$ref"], message }]);
});
