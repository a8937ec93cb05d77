import { checkContext, checkData, keepingDigits } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { checkSchema } from "../../../packages/workflow/src/inputs/check-schema.ts";
import { action, mustParse, row } from "../definition.ts";

const inputs = {
  properties: {
    amount: { type: "integer", minimum: 0 },
    mail: { type: "object", properties: { from: { type: "string" } }, required: ["from"] },
    mode: { enum: ["fast", "slow"] },
    at: { type: "string", format: "date-time" },
  },
  required: ["amount"],
  additionalProperties: false,
};
const workflow = mustParse({ ...row(action("a")), inputs });

it.each([
  ['{"amount": 12}'],
  ['{"amount": 12345678901234567890}'],
  ['{"amount": 850.0, "at": "whenever", "mode": "fast"}'],
])("a run may start with the context %s", async (text) => {
  expect(await checkContext(workflow, text)).toEqual([]);
});

it.each([
  ["{}", "NOVA505", "$.amount", 'has no "amount"'],
  ['{"amount": -1}', "NOVA505", "$.amount", "the context's amount must be >= 0"],
  ['{"amount": 1, "mail": {"from": 3}}', "NOVA505", "$.mail.from", "the context's mail.from must be string"],
  ['{"amount": 1, "mail": {}}', "NOVA505", "$.mail.from", `the context's mail has no "from"`],
  ['{"amount": 1, "amuont": 2}', "NOVA505", "$", '"amuont"'],
  ['{"amount": 1, "mode": "x"}', "NOVA505", "$.mode", '["fast","slow"]'],
  ["[]", "NOVA506", "$", "not a JSON object"],
  ["null", "NOVA506", "$", "not a JSON object"],
  ["", "NOVA506", "$", "line 1, column 1"],
  ['{\n"amount": 1,\n}', "NOVA506", "$", "line 3, column 1"],
])("a run may not start with the context %j", async (text, code, path, words) => {
  const found = await checkContext(workflow, text);
  expect(found).toEqual([expect.objectContaining({ code, path, message: expect.stringContaining(words) })]);
  expect(found[0]?.message).toMatch(/ - /);
});

it("all problems of an initial context are reported together", async () => {
  expect((await checkContext(workflow, '{"mode": 1, "at": 2}')).map((one) => one.path)).toEqual([
    "$.amount",
    "$.mode",
    "$.at",
  ]);
});

it("a list of a thousand wrong items in an initial context causes only twenty findings", async () => {
  const numbers = { inputs: { properties: { list: { items: { type: "number" } } } } };
  expect(await checkContext(numbers, JSON.stringify({ list: Array(1000).fill("x") }))).toHaveLength(20);
});

it("an initial context must be an object even if the workflow declares no inputs", async () => {
  expect(await checkContext({}, '{"a": 1}')).toEqual([]);
  expect(await checkContext({}, "3")).toMatchObject([{ code: "NOVA506" }]);
});

const form = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  required: ["reason"],
  additionalProperties: false,
  properties: { reason: { type: "string" }, level: { enum: [1, 2] } },
};

describe("the data of an answer, checked against a form,", () => {
  it.each([
    ['{"reason": "ok", "level": 2}', []],
    ["{}", ['the data has no "reason"']],
    ['{"reason": 1}', ["data.reason must be string"]],
    ['{"reason": "ok", "more": 1}', ['the data must NOT have additional properties: "more"']],
    ['{"reason": "ok", "level": 3}', ["data.level must be equal to one of the allowed values: [1,2]"]],
    ["[]", ["the data must be object"]],
    ["{", ["it is not JSON"]],
  ])("written as %s has the problems %j", async (text, problems) => {
    expect(await checkData(form, text)).toEqual(problems);
  });
});

/**
 * Says of each value whether it fits a schema. Both are JSON texts. Each value is checked as a key of a context and as
 * the data of a form.
 */
async function fitting(schema: string, ...values: string[]): Promise<boolean[]> {
  const inputs = keepingDigits(`{"properties": {"value": ${schema}}}`);
  const form = keepingDigits(schema);
  return Promise.all(
    values.map(async (value) => {
      const isFitting = (await checkData(form, value)).length === 0;
      expect([value, (await checkContext({ inputs }, `{"value": ${value}}`)).length === 0]).toEqual([value, isFitting]);
      return isFitting;
    }),
  );
}

describe("a JSON schema with numbers of any size", () => {
  it.each([
    [
      '{"multipleOf": 0.01}',
      ["19.99", "0.29", "4.35", "0", "-0.0", "1e2", "1e1000000000"],
      ["19.999", "0.001", "1e-400"],
    ],
    ['{"multipleOf": 0.5}', ["1.50", "-2", "5e-1"], ["1.25", "1.50000000000000000001"]],
    ['{"multipleOf": 3}', ["9007199254740993", "3e30", "12e1000000000"], ["9007199254740994", "1e1000000000"]],
    ['{"multipleOf": 1e-400}', ["3e-400", "1"], ["1e-401"]],
    ['{"const": 12345678901234567890}', ["12345678901234567890", "1234567890123456789e1"], ["12345678901234567891"]],
    [
      '{"const": {"a": 9007199254740993, "b": 1}}',
      ['{"b": 1.0, "a": 9007199254740993}'],
      ['{"a": 9007199254740992, "b": 1}'],
    ],
    ['{"enum": [9007199254740993, 0, "1"]}', ["9007199254740993", "-0", '"1"'], ["9007199254740992", "1"]],
    [
      '{"minimum": 9007199254740993}',
      ["9007199254740993", "1e400"],
      ["9007199254740992", "9007199254740992.9", "-1e400"],
    ],
    ['{"maximum": 0.1}', ["0.1", "0.09999999999999999999"], ["0.10000000000000000001"]],
    ['{"exclusiveMinimum": 0}', ["1e-400", "1e-1000000000"], ["0", "-0", "-1e-400"]],
    ['{"exclusiveMaximum": 1e400}', ["9.9e399", "0"], ["1e400", "1e1000000000"]],
    [
      '{"uniqueItems": true}',
      ["[12345678901234567890, 12345678901234567891]"],
      ["[1, 1.0]", '[{"a": 1, "b": 2}, {"b": 2, "a": 1}]', "[0, -0]"],
    ],
    [
      '{"type": "integer"}',
      ["1.0", "1e2", "1e400", "12345678901234567890", "-0"],
      ["1.5", "1.00000000000000000001", "1e-400", "9007199254740993.5", '"1"'],
    ],
    ['{"type": "number"}', ["1e400", "1e-400", "0.1"], ["true", "null"]],
    ['{"minLength": 2, "maxLength": 2}', ['"😀é"'], ['"😀"', '"abc"']],
  ])("written as %s accepts %j and refuses %j", async (schema, right, wrong) => {
    expect(await fitting(schema, ...right)).toEqual(right.map(() => true));
    expect(await fitting(schema, ...wrong)).toEqual(wrong.map(() => false));
  });

  it("is checked in a time that depends on the length of a number's text, not on its value", async () => {
    const digits = "7".repeat(100_000);
    expect(await fitting('{"multipleOf": 7, "minimum": 1}', digits, `${digits}e${digits}`)).toEqual([true, true]);
    expect(await fitting('{"exclusiveMaximum": 1}', `0.${"0".repeat(200_000)}1`, "1e-999999999999")).toEqual([
      true,
      true,
    ]);
  });

  it("causes error messages with its exact limits and allowed values", async () => {
    const form = keepingDigits('{"minimum": 9007199254740993, "enum": [12345678901234567891, {"a": 1e400}]}');
    expect(await checkData(form, "1")).toEqual([
      'the data must be equal to one of the allowed values: [12345678901234567891,{"a":1e400}]',
      "the data must be >= 9007199254740993",
    ]);
  });

  it("is checked for its own mistakes with exact numbers", () => {
    const problemsOf = (text: string) => checkSchema(keepingDigits(text)).problems.map(({ message }) => message);
    expect(problemsOf('{"multipleOf": 1e-400, "minimum": 1e400, "maxLength": 5.0}')).toEqual([]);
    expect(problemsOf('{"multipleOf": 0}')).toEqual(["multipleOf must be > 0"]);
    expect(problemsOf('{"maxLength": 5.00000000000000000001}')).toEqual(["maxLength must be integer"]);
    expect(problemsOf('{"enum": [1]}')).toEqual([]);
  });
});
