import { describe, expect, it } from "vitest";
import { type Access, allowing, type Statement, UnknownCondition } from "./policy.ts";

const table = "arn:aws:dynamodb:us-east-1:123456789012:table/nova";

function statement(more: Partial<Statement> = {}): Statement {
  return { Effect: "Allow", Action: ["dynamodb:GetItem", "dynamodb:PutItem"], Resource: table, ...more };
}

function access(context: Access["context"] = {}, more: Partial<Access> = {}): Access {
  return { action: "dynamodb:GetItem", resource: table, context, ...more };
}

const allows = (given: Statement[], asked: Access) => allowing(given, asked).length > 0;

describe("a statement", () => {
  it.each<[string, Partial<Statement>, Access, boolean]>([
    ["allows an action of its list", {}, access(), true],
    ["allows no other action", {}, access({}, { action: "dynamodb:DeleteItem" }), false],
    ["allows no other resource", {}, access({}, { resource: `${table}-2` }), false],
    ["allows everything that its stars match", { Action: "dynamodb:*", Resource: `${table}*` }, access(), true],
    ["matches a dot literally", { Resource: table.replace(":", ".") }, access(), false],
    ["matches any single character with ?", { Resource: table.replace("nova", "n?va") }, access(), true],
  ])("%s", (_, more, asked, expected) => {
    expect(allows([statement(more)], asked)).toBe(expected);
  });

  it("does not allow an access that another statement denies", () => {
    expect(allows([statement(), statement({ Effect: "Deny", Action: "dynamodb:GetItem" })], access())).toBe(false);
  });
});

describe("a condition", () => {
  const key = "dynamodb:LeadingKeys";
  it.each<[string, string, string | string[], string[] | undefined, boolean]>([
    ["holds for every value", "ForAllValues:StringLike", "C#*", ["C#1", "C#2"], true],
    ["does not hold if one value differs", "ForAllValues:StringLike", "C#*", ["C#1", "E#1"], false],
    ["about all values holds if there are no values", "ForAllValues:StringLike", "C#*", undefined, true],
    ["about any value holds if one value matches", "ForAnyValue:StringLike", "C#*", ["E#1", "C#1"], true],
    ["about any value does not hold if there are no values", "ForAnyValue:StringLike", "C#*", undefined, false],
    ["holds for each of the values that it lists", "StringEquals", ["a", "b"], ["b"], true],
    ["compares a star literally in an equals operator", "StringEquals", "*", ["b"], false],
    ["does not hold without its key", "StringEquals", "a", undefined, false],
    ["that is negated holds without its key", "StringNotEquals", "a", undefined, true],
    ["that is negated holds for another value", "ArnNotEquals", "arn:a", ["arn:b"], true],
    ["that is negated does not hold for its value", "ArnNotEquals", "arn:a", ["arn:a"], false],
    ["that its key is absent holds without the key", "Null", "true", undefined, true],
    ["that its key is present does not hold without the key", "Null", "false", undefined, false],
  ])("%s", (_, operator, wanted, given, expected) => {
    const conditional = statement({ Condition: { [operator]: { [key]: wanted } } });
    expect(allows([conditional], access(given && { [key]: given }))).toBe(expected);
  });

  it("of an unknown type throws", () => {
    const conditional = statement({ Condition: { IpAddress: { "aws:SourceIp": "10.0.0.0/8" } } });
    expect(() => allows([conditional], access())).toThrow(UnknownCondition);
  });
});
