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

describe("a statement of an AWS policy", () => {
  it.each<[string, Partial<Statement>, Access, boolean]>([
    ["allows an action that it lists", {}, access(), true],
    ["does not allow an action that it does not list", {}, access({}, { action: "dynamodb:DeleteItem" }), false],
    ["does not allow a resource that it does not name", {}, access({}, { resource: `${table}-2` }), false],
    [
      "allows every action and resource that its patterns with a star match",
      { Action: "dynamodb:*", Resource: `${table}*` },
      access(),
      true,
    ],
    ["matches a dot only with a dot", { Resource: table.replace(":", ".") }, access(), false],
    ["matches any single character with a question mark", { Resource: table.replace("nova", "n?va") }, access(), true],
  ])("is applied as AWS applies it: it %s", (_, more, asked, expected) => {
    expect(allows([statement(more)], asked)).toBe(expected);
  });

  it("does not allow an access that another statement denies", () => {
    expect(allows([statement(), statement({ Effect: "Deny", Action: "dynamodb:GetItem" })], access())).toBe(false);
  });
});

describe("a condition of an AWS policy", () => {
  const key = "dynamodb:LeadingKeys";
  it.each<[string, string, string | string[], string[] | undefined, boolean]>([
    ["for all values holds if every value matches", "ForAllValues:StringLike", "C#*", ["C#1", "C#2"], true],
    ["for all values does not hold if one value differs", "ForAllValues:StringLike", "C#*", ["C#1", "E#1"], false],
    ["for all values holds if there are no values", "ForAllValues:StringLike", "C#*", undefined, true],
    ["for any value holds if one value matches", "ForAnyValue:StringLike", "C#*", ["E#1", "C#1"], true],
    ["for any value does not hold if there are no values", "ForAnyValue:StringLike", "C#*", undefined, false],
    ["with several values holds if the request has one of them", "StringEquals", ["a", "b"], ["b"], true],
    ["compares a star literally in an equals operator", "StringEquals", "*", ["b"], false],
    ["does not hold if the request lacks its key", "StringEquals", "a", undefined, false],
    ["with a negated operator holds if the request lacks its key", "StringNotEquals", "a", undefined, true],
    ["with a negated operator holds if the request has another value", "ArnNotEquals", "arn:a", ["arn:b"], true],
    ["with a negated operator does not hold if the request has its value", "ArnNotEquals", "arn:a", ["arn:a"], false],
    ["that requires the absence of a key holds if the request lacks the key", "Null", "true", undefined, true],
    ["that requires a key does not hold if the request lacks the key", "Null", "false", undefined, false],
  ])("is applied as AWS applies it: a condition %s", (_, operator, wanted, given, expected) => {
    const conditional = statement({ Condition: { [operator]: { [key]: wanted } } });
    expect(allows([conditional], access(given && { [key]: given }))).toBe(expected);
  });

  it("of an unknown type makes the check of AWS roles fail with an error", () => {
    const conditional = statement({ Condition: { IpAddress: { "aws:SourceIp": "10.0.0.0/8" } } });
    expect(() => allows([conditional], access())).toThrow(UnknownCondition);
  });
});
