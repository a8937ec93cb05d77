import { describe, expect, it } from "vitest";
import {
  allowsMoreKeys,
  createDraft,
  createDrafts,
  createElement,
  type Draft,
  type Field,
  findProblems,
  listFiles,
  parseFields,
  renderMembers,
} from "../../../../packages/console/src/parts/form/form.ts";

const schemaText = (properties: object, rest: object = {}) => JSON.stringify({ type: "object", properties, ...rest });
const fieldFor = (schema: object, required = false): Field => {
  const [field] = parseFields(schemaText({ value: schema }, required ? { required: ["value"] } : {}));
  return field as Field;
};
const typed = (text: string): Draft => ({ kind: "scalar", text });
const problem = (field: Field, draft: Draft) => [...findProblems([field], [draft]).values()][0];
const sent = (field: Field, draft: Draft) => `{${renderMembers([field], [draft]).join(",")}}`;

describe("a form generated from a schema", () => {
  it.each([
    ["a text", { type: "string" }, { kind: "text", input: "text", isLong: false }],
    ["a long text", { type: "string", maxLength: 500 }, { kind: "text", isLong: true }],
    ["a secret", { type: "string", secret: true }, { kind: "text", input: "password" }],
    ["a day", { type: "string", format: "date" }, { kind: "text", input: "date" }],
    ["a moment", { type: "string", format: "date-time" }, { kind: "text", input: "datetime-local" }],
    ["a whole number", { type: "integer" }, { kind: "number", isInteger: true }],
    ["a number or null", { type: ["number", "null"] }, { kind: "number", isInteger: false }],
    ["a boolean", { type: "boolean" }, { kind: "boolean" }],
    ["one of several values", { enum: ["a", 1, null] }, { kind: "choice", values: ['"a"', "1", "null"] }],
    ["a list of texts", { type: "array", items: { type: "string" } }, { kind: "list", element: { kind: "text" } }],
    ["an object of unknown keys", { type: "object" }, { kind: "any", isObject: true }],
    ["a value of several types", { type: ["string", "number"] }, { kind: "any" }],
    ["a value without a type", { description: "bytes" }, { kind: "any" }],
    ["a value that fits one of several schemas", { oneOf: [{ type: "string" }] }, { kind: "any" }],
  ])("has a specific input for %s", (_, schema, shape) => {
    expect(fieldFor(schema).shape).toMatchObject(shape);
  });

  it("follows $ref within the schema, and stops at endless recursion", () => {
    const $defs = {
      address: { type: "object", properties: { city: { type: "string" } } },
      tree: {
        type: "object",
        properties: Object.fromEntries(
          Array.from({ length: 20 }, (_, index) => [`k${index}`, { $ref: "#/$defs/tree" }]),
        ),
      },
    };
    const schema = schemaText({ home: { $ref: "#/$defs/address" }, root: { $ref: "#/$defs/tree" } }, { $defs });
    const [home, root] = parseFields(schema);
    expect(home?.shape).toMatchObject({ kind: "object", fields: [{ key: "city", shape: { kind: "text" } }] });
    expect(JSON.stringify(root).match(/"key"/g)?.length).toBeLessThan(8000);
  });

  it("keeps the digits of bounds, defaults and enums", () => {
    const [field] = parseFields(
      '{"properties":{"n":{"type":"number","maximum":12345678901234567890,"default":850.0}}}',
    );
    expect(field).toMatchObject({
      initial: "850.0",
      shape: { bounds: [{ limit: "12345678901234567890", is: "max" }] },
    });
    const [choice] = parseFields('{"properties":{"n":{"enum":[1.50,12345678901234567890]}}}');
    expect(choice?.shape).toMatchObject({ values: ["1.50", "12345678901234567890"] });
  });

  it("knows whether the schema allows keys that it does not list", () => {
    expect(allowsMoreKeys(schemaText({}))).toBe(true);
    expect(allowsMoreKeys(schemaText({}, { additionalProperties: false }))).toBe(false);
  });

  it.each(["__proto__", "constructor", "a.b", 'with "quotes"'])("has a field for the key %s", (key) => {
    const [field] = parseFields(`{"properties":{${JSON.stringify(key)}:{"type":"string"}}}`);
    expect(sent(field as Field, typed("x"))).toBe(`{${JSON.stringify(key)}:"x"}`);
  });
});

describe("the data of a form generated from a schema", () => {
  it.each(["850.0", "12345678901234567890", "-0", "1e400", "0.10"])("contains every digit of the number %s", (text) => {
    const field = fieldFor({ type: "number" });
    expect(problem(field, typed(text))).toBeUndefined();
    expect(sent(field, typed(` ${text} `))).toBe(`{"value":${text}}`);
  });

  it("omits empty optional values, including empty objects and lists", () => {
    const fields = parseFields(
      schemaText({
        text: { type: "string" },
        flag: { type: "boolean" },
        list: { type: "array", items: { type: "number" } },
        home: { type: "object", required: ["city"], properties: { city: { type: "string" } } },
      }),
    );
    expect(findProblems(fields, createDrafts(fields)).size).toBe(0);
    expect(renderMembers(fields, createDrafts(fields))).toEqual([]);
  });

  it("contains false if the user chooses false, and no value if the user chooses nothing", () => {
    expect(sent(fieldFor({ type: "boolean" }), typed("false"))).toBe('{"value":false}');
    expect(sent(fieldFor({ type: "boolean" }), typed(""))).toBe("{}");
  });

  it("starts with the defaults of the schema, including those of nested objects", () => {
    const fields = parseFields(
      '{"properties":{"o":{"type":"object","default":{"n":1.0,"l":["a"]},"properties":{"n":{"type":"number"},"l":{"type":"array","items":{"type":"string"}}}}}}',
    );
    expect(renderMembers(fields, createDrafts(fields))).toEqual(['"o":{"n":1.0,"l":["a"]}']);
  });

  it("starts with plain text for a text, and with JSON for a number or an object", () => {
    expect(createDraft({ kind: "any" }, '"15m"')).toMatchObject({ mode: "text", text: "15m" });
    expect(createDraft({ kind: "any" }, "850.0")).toMatchObject({ mode: "json", text: "850.0" });
    expect(createDraft({ kind: "any", isObject: true })).toMatchObject({ mode: "json", text: "" });
  });

  it("contains JSON exactly as the user typed it, and the reference to an uploaded file instead of the file", () => {
    const field = fieldFor({});
    const json: Draft = { kind: "any", mode: "json", text: '{"a": 1.0}', file: undefined };
    expect(sent(field, json)).toBe('{"value":{"a": 1.0}}');
    expect(sent(field, { ...json, mode: "text", text: '"' })).toBe('{"value":"\\""}');
    const file = new File(["x"], "x.pdf");
    const chosen: Draft = { kind: "any", mode: "file", text: "", file };
    expect(listFiles(chosen)).toEqual([file]);
    expect(renderMembers([field], [chosen], new Map([[file, '{"$upload":"upl_1"}']]))).toEqual([
      '"value":{"$upload":"upl_1"}',
    ]);
  });
});

describe("the validation of a form generated from a schema", () => {
  it.each([
    [{ type: "integer" }, "1.5", "Enter a whole number: 12"],
    [{ type: "integer" }, "1.0", undefined],
    [{ type: "number" }, "12,5", "Enter a number, with a point for decimals: 12.5"],
    [{ type: "number" }, "0x10", "Enter a number, with a point for decimals: 12.5"],
    [{ type: "number", minimum: 3 }, "2.9", "At least 3."],
    [{ type: "number", exclusiveMaximum: 3 }, "3", "Less than 3."],
    [{ type: "string", minLength: 3 }, "ab", "At least 3 characters."],
    [{ type: "string", maxLength: 2 }, "\u{1f600}\u{1f600}", undefined],
    [{ type: "string", maxLength: 2 }, "abc", "At most 2 characters."],
  ])("reports for the schema %j and the input %s this problem: %s", (schema, text, sentence) => {
    expect(problem(fieldFor(schema), typed(text))).toBe(sentence);
  });

  it("compares large integers exactly", () => {
    const [field] = parseFields('{"properties":{"n":{"type":"integer","maximum":12345678901234567890}}}');
    expect(problem(field as Field, typed("12345678901234567891"))).toBe("At most 12345678901234567890.");
    expect(problem(field as Field, typed("12345678901234567890"))).toBeUndefined();
  });

  it("requires members of an optional object only if the object has a value", () => {
    expect(problem(fieldFor({ type: "string" }, true), typed(""))).toBe("This value is required.");
    const home = fieldFor({
      type: "object",
      required: ["city"],
      properties: { street: { type: "string" }, city: { type: "string" } },
    });
    const filled: Draft = { kind: "object", members: [typed("Main Street"), typed("")] };
    expect([...findProblems([home], [filled])]).toEqual([[".0.1", "This value is required."]]);
  });

  it("checks the number of items, and reports each invalid item", () => {
    const field = fieldFor({ type: "array", minItems: 1, maxItems: 2, items: { type: "integer" } }, true);
    expect(problem(field, { kind: "list", elements: [] })).toBe("At least 1.");
    const element = createElement({ kind: "number", isInteger: true, bounds: [] }, "1");
    const wrong = { ...createElement({ kind: "number", isInteger: true, bounds: [] }), draft: typed("x") };
    const elements = [element, wrong];
    expect([...findProblems([field], [{ kind: "list", elements }]).keys()]).toEqual([`.0[${wrong.id}]`]);
  });

  it("rejects invalid JSON", () => {
    const field = fieldFor({});
    const draft: Draft = { kind: "any", mode: "json", text: "{a: 1}", file: undefined };
    expect(problem(field, draft)).toBe("This is not valid JSON. Put texts in quotes.");
  });
});
