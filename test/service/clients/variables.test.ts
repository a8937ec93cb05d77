import { describe, expect, it } from "vitest";
import { checkVariables, withVariables } from "../../../packages/service/src/clients/clients.ts";
import { Refused } from "../../../packages/service/src/errors.ts";

describe("a context over the variables of its client", () => {
  it.each([
    ["of nobody stays as it was written", undefined, '{ "a": 1.0 }', '{ "a": 1.0 }'],
    ["begins with them", '{"company":"ACME"}', '{"total":850.0}', '{"company":"ACME","total":850.0}'],
    ["counts where both have a key", '{"limit":1000,"company":"ACME"}', '{"limit":5}', '{"company":"ACME","limit":5}'],
    ["keeps their digits", '{"account": 12345678901234567890}', "{}", '{"account":12345678901234567890}'],
    ["counts where it says null", '{"limit":1000}', '{"limit":null}', '{"limit":null}'],
    ["takes nothing from nothing", "{}", "{}", "{}"],
  ])("%s", (_what, variables, context, whole) => {
    expect(withVariables(variables, context)).toBe(whole);
  });
});

describe("variables", () => {
  const nested = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

  it.each(["{}", '{"company":"ACME"}', nested(500), '{"_a1":{"deep":["x",null]}}', `{"long":"${"x".repeat(60_000)}"}`])(
    "%.40s are taken",
    (variables) => expect(() => checkVariables(variables)).not.toThrow(),
  );

  it.each([
    ["with a name that Python cannot have", '{"1st":1}', /"1st" cannot be a name - use letters/],
    ["with no name", '{"":1}', /"" cannot be a name/],
    ["with a name that is too long", JSON.stringify({ ["x".repeat(65)]: 1 }), /at most 64/],
    ["that name an upload", '{"logo":{"$upload":"upl_01"}}', /"logo" names an upload.* - send it with each run/],
    ["that name one deep inside", '{"brand":[{"logo":{ "$upload" : "upl_01"}}]}', /"brand" names an upload/],
    ["that are too many", JSON.stringify(Object.fromEntries(many(101))), /at most 100 variables, not 101/],
    ["that are nested deeper than a context", nested(501), /at most 500 levels deep.*not 501 - make them flatter/],
    ["that are too large", JSON.stringify({ text: "ü".repeat(33_000) }), /at most 65536 bytes, not 66011/],
  ])("%s are refused", (_what, variables, reason) => {
    expect(() => checkVariables(variables)).toThrow(Refused);
    expect(() => checkVariables(variables)).toThrow(reason);
  });
});

function many(count: number): [string, number][] {
  return Array.from({ length: count }, (_, i) => [`v${i}`, i]);
}
