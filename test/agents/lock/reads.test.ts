import { membersOf } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { currentTypes, typesOf } from "../../../packages/agents/src/lock/reads.ts";

const blob = (type: string) => JSON.stringify({ $blob: { sha256: "a".repeat(64), bytes: 90_000, type } });

describe("the recorded types of code", () => {
  it.each([
    ["lines", '{"lines": [1]}', "list"],
    ["lines.0", '{"lines": [1]}', "number"],
    ["order", '{"order": {}}', "object"],
    ["order.name", '{"order": {"name": "a"}}', "string"],
    ["paid", '{"paid": false}', "boolean"],
    ["paid", '{"paid": null}', "null"],
    ["total", '{"total": 12345678901234567890}', "number"],
    ["total", '{"total": 850.0}', "number"],
    ["a.b", '{"a.b": 1, "a": {"b": "x"}}', "number"],
    ["order.a.b", '{"order": {"a": {"b": []}}}', "list"],
    ["pdf", `{"pdf": ${blob("bytes")}}`, "bytes"],
    ["text", `{"text": ${blob("text")}}`, "string"],
    ["rows", `{"rows": ${blob("json")}}`, "json"],
    ["mail.pdf", `{"mail": {"pdf": ${blob("bytes")}}}`, "bytes"],
    ["rows.0", `{"rows": ${blob("json")}}`, "any"],
    ["order.gone", '{"order": {}}', "any"],
    ["lines.length", '{"lines": [1]}', "any"],
    ["text.length", '{"text": "a"}', "any"],
    ["escaped", '{"escaped": {"$$blob": 1}}', "object"],
  ])("include %s of %s as %s", (path, input, type) => {
    expect(typesOf([{ path, optional: false }], membersOf(input))).toEqual({ [path]: type });
  });

  it("are in alphabetical order, optional ones marked", () => {
    const reads = [
      { path: "b", optional: false },
      { path: "a", optional: true },
    ];
    expect(Object.entries(typesOf(reads, membersOf('{"b": 1, "a": 2}')))).toEqual([
      ["a?", "number"],
      ["b", "number"],
    ]);
  });
});

describe("the current types", () => {
  it.each([
    ["the same type", "n", "number", '{"n": 7}', "number"],
    ["a whole number for another one", "n", "number", '{"n": 7.5}', "number"],
    ["another type", "n", "number", '{"n": "7"}', "string"],
    ["null", "n", "number", '{"n": null}', "null"],
    ["nothing", "n", "number", "{}", "absent"],
    ["nothing where that is optional", "n?", "number", "{}", "number"],
    ["another type where it is optional", "n?", "number", '{"n": "7"}', "string"],
    ["anything where nothing was", "n?", "any", '{"n": "7"}', "any"],
    ["a list grown large", "l", "list", `{"l": ${blob("json")}}`, "list"],
    ["an object grown large", "o", "object", `{"o": ${blob("json")}}`, "object"],
    ["a large value where a text was", "o", "string", `{"o": ${blob("json")}}`, "json"],
    ["a large value grown small", "o", "json", '{"o": []}', "json"],
    ["a text where a large value was", "o", "json", '{"o": ""}', "string"],
    ["a path into a large value", "o.a", "string", `{"o": ${blob("json")}}`, "string"],
    ["a long text for a short one", "t", "string", `{"t": ${blob("text")}}`, "string"],
  ])("are, for %s, these", (_, name, written, input, today) => {
    expect(currentTypes({ [name]: written }, membersOf(input))).toEqual({ [name]: today });
  });
});
