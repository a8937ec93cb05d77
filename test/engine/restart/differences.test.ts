import { membersOf } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { differences, type Output } from "../../../packages/engine/src/restart/diff.ts";

function output(set: string, ...deleted: string[]): Output {
  return { set: membersOf(set), delete: deleted };
}

describe("two outputs", () => {
  it.each([
    ["as they are", '{"a": [1, {"b": "c"}]}', '{"a": [1, {"b": "c"}]}'],
    ["with keys in another order", '{"a": 1, "b": {"c": 1, "d": 2}}', '{"b": {"d": 2, "c": 1}, "a": 1}'],
    ["with other spaces and escapes", '{"a": ["é"]}', '{"a":["\\u00e9"]}'],
  ])("are the same %s", (_, one, other) => {
    expect(differences(output(one), output(other))).toEqual([]);
  });

  it.each([
    ["a value", '{"a": 1}', '{"a": 2}', [{ key: "a", recorded: "1", now: "2" }]],
    ["a key that came", "{}", '{"a": 2}', [{ key: "a", recorded: null, now: "2" }]],
    ["a key that went", '{"a": 1}', "{}", [{ key: "a", recorded: "1", now: null }]],
    ["the order of a list", '{"a": [1,2]}', '{"a": [2,1]}', [{ key: "a", recorded: "[1,2]", now: "[2,1]" }]],
    ["the type of a number", '{"a": 850.0}', '{"a": 850}', [{ key: "a", recorded: "850.0", now: "850" }]],
    [
      "the last digit of a large number",
      '{"a": 12345678901234567890}',
      '{"a": 12345678901234567891}',
      [{ key: "a", recorded: "12345678901234567890", now: "12345678901234567891" }],
    ],
  ])("differ in %s", (_, one, other, found) => {
    expect(differences(output(one), output(other))).toEqual(found);
  });

  it("differ in what they delete", () => {
    expect(differences(output("{}", "a", "b"), output("{}", "b"))).toEqual([
      { key: "a", recorded: '"(deleted)"', now: null },
    ]);
  });
});
