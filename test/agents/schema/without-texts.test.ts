import { expect, it } from "vitest";
import { withoutTexts } from "../../../packages/agents/src/schema/without-texts.ts";

const code = `result = {"type": "pdf", 'lines': [line for line in text], "total": None}`;

it.each([
  ["texts that the code spells out", { type: "pdf" }, { type: "pdf" }],
  ["no text of the data", { type: "Sirius Black" }, { type: "<string: 12 chars>" }],
  ["no key of the data", { "Sirius Black": 1 }, { "key 1": 1 }],
  ["numbers, truth values and nothing", { lines: [3, true, null] }, { lines: [3, true, null] }],
  ["no text inside of others", { lines: [{ total: "12 EUR" }] }, { lines: [{ total: "<string: 6 chars>" }] }],
])("shows %s", (_, found, shown) => {
  expect(JSON.parse(JSON.stringify(withoutTexts(found, code)))).toEqual(shown);
});
