import { checkContext } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { checkData } from "../../../packages/workflow/src/index.ts";
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
])("a run may start with %s", async (text) => {
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
])("a run may not start with %j", async (text, code, path, words) => {
  const found = await checkContext(workflow, text);
  expect(found).toEqual([expect.objectContaining({ code, path, message: expect.stringContaining(words) })]);
  expect(found[0]?.message).toMatch(/ - /);
});

it("the findings contain all problems of a context", async () => {
  expect((await checkContext(workflow, '{"mode": 1, "at": 2}')).map((one) => one.path)).toEqual([
    "$.amount",
    "$.mode",
    "$.at",
  ]);
});

it("the findings report a list of wrong items once", async () => {
  const numbers = { inputs: { properties: { list: { items: { type: "number" } } } } };
  expect(await checkContext(numbers, JSON.stringify({ list: Array(1000).fill("x") }))).toHaveLength(20);
});

it("a context must be an object even if no inputs are declared", async () => {
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

describe("data for a form", () => {
  it.each([
    ['{"reason": "ok", "level": 2}', []],
    ["{}", ['the data has no "reason"']],
    ['{"reason": 1}', ["data.reason must be string"]],
    ['{"reason": "ok", "more": 1}', ['the data must NOT have additional properties: "more"']],
    ['{"reason": "ok", "level": 3}', ["data.level must be equal to one of the allowed values: [1,2]"]],
    ["[]", ["the data must be object"]],
    ["{", ["it is not JSON"]],
  ])("may be %s with the problems %j", async (text, problems) => {
    expect(await checkData(form, text)).toEqual(problems);
  });
});
