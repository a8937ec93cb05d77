import { describe, expect, it } from "vitest";
import { InputsRefused, refuseMisfits } from "../../../../packages/engine/src/kinds/start/start.ts";

const either = { anyOf: [{ required: ["email"] }, { required: ["mail"] }], properties: { email: { type: "object" } } };
const asking = JSON.parse('{"if":{"required":["mail"]},"then":{"required":["x"]}}');
const text = { type: "string" };

describe("a file under `mail`", () => {
  it.each([
    ["is one of what has to be there", either, "{}"],
    ["is what has to be there", { required: ["mail"], properties: { mail: text } }, "{}"],
    ["is of no type in one of several schemas", { oneOf: [{ properties: { mail: text } }] }, "{}"],
    ["is of no type in all of them", { allOf: [{ properties: { mail: text }, required: ["mail"] }] }, "{}"],
    ["is one key more where all others are of a type", { additionalProperties: text }, '{"a":"x"}'],
    ["is of no type by its name", { patternProperties: { "^mail": text } }, "{}"],
    ["asks for what comes with it", { dependentRequired: { mail: ["host"] } }, '{"host":"x"}'],
    ["asks for a schema", { dependentSchemas: { mail: { properties: { mail: text } } } }, "{}"],
    ["is there for a condition", { if: { required: ["mail"] }, else: { required: ["email"] } }, "{}"],
    ["is a part of what is counted", { minProperties: 2 }, '{"a":1}'],
  ])("%s", async (_what, inputs, context) => {
    await expect(refuseMisfits({ inputs }, context, ["mail"])).resolves.toBeUndefined();
  });

  it.each([
    [
      "and what has to come with it does not",
      { dependentRequired: { mail: ["host"] } },
      "{}",
      /must have property host/,
    ],
    ["and its condition asks for more", asking, "{}", /has no "x"/],
    ["where it may not be", { properties: { mail: false } }, "{}", /boolean schema is false/],
    ["where only the other may be", { not: { required: ["mail"] } }, "{}", /must NOT be valid/],
    ["beside another key of a wrong type", { anyOf: [{ properties: { a: text } }] }, '{"a":1}', /must be string/],
    ["beside a context that is no JSON", either, "{", /is not JSON/],
  ])("is refused %s", async (_what, inputs, context, message) => {
    const refused = refuseMisfits({ inputs }, context, ["mail"]);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toThrow(InputsRefused);
  });
});

it("without a file, what has to be there is missing", async () => {
  await expect(refuseMisfits({ inputs: either }, "{}", [])).rejects.toThrow(/has no "mail"/);
});
