import { renderJson } from "@nova/workflow/json-text";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatJson,
  listElements,
  listMembers,
  parseAnswer,
  Raw,
  readKind,
} from "../../../packages/console/src/json/raw.ts";

describe("raw JSON text", () => {
  it("keeps digits that a floating-point number would lose", () => {
    const text = '{"a": 850.0, "b": [12345678901234567890, 1e400], "c": -0}';
    expect(listMembers(text)).toEqual([
      { key: "a", text: "850.0" },
      { key: "b", text: "[12345678901234567890, 1e400]" },
      { key: "c", text: "-0" },
    ]);
    expect(listElements("[12345678901234567890, 1e400]")).toEqual(["12345678901234567890", "1e400"]);
  });

  it("is split into the same members as JSON.parse finds, with or without whitespace", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 1, "\t"), (value, space) => {
        const members = listMembers(JSON.stringify(value, null, space));
        expect(Object.fromEntries(members.map(({ key, text }) => [key, JSON.parse(text)]))).toEqual(
          JSON.parse(JSON.stringify(value)),
        );
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (list) => {
        expect(listElements(JSON.stringify(list)).map((text) => JSON.parse(text))).toEqual(
          JSON.parse(JSON.stringify(list)),
        );
      }),
    );
  });

  it("is split into no more members than requested", () => {
    expect(listMembers('{"a":1,"b":2,"c":3}', 2).map(({ key }) => key)).toEqual(["a", "b"]);
    expect(listElements("[1,2,3]", 1)).toEqual(["1"]);
    expect([listMembers("{}"), listElements("[ ]")]).toEqual([[], []]);
  });

  it.each([
    [" {}", "object"],
    ["\n[1]", "list"],
    ['"{"', "text"],
    ["-1", "number"],
    ["true", "boolean"],
    ["null", "null"],
  ])("is recognised by its first character: %j is %s", (text, kind) => {
    expect(readKind(text)).toBe(kind);
  });

  it("stays text in the outputs and definitions of a session", () => {
    const answer = parseAnswer(
      '{"nodes":[{"version":2,"definition":{"timeout":60.0}}],"outputs":[{"output":{"n":1.0}},{"output":null}]}',
    );
    expect(answer).toEqual({
      nodes: [{ version: 2, definition: new Raw('{"timeout":60.0}') }],
      outputs: [{ output: new Raw('{"n":1.0}') }, { output: null }],
    });
  });

  it("stays text in every member of an API answer that contains a context, and is sent back unchanged", () => {
    const context = '{"total": 850.0}';
    const text = `{"items":[{"seq":1,"changes":{"set":${context},"delete":[]},"branches":[{"entries":[{"output_result":${context}}]}]}]}`;
    const answer = parseAnswer(text) as {
      items: [{ seq: number; changes: { set: Raw }; branches: [{ entries: [{ output_result: Raw }] }] }];
    };
    const [entry] = answer.items;
    expect(entry.seq).toBe(1);
    expect([entry.changes.set, entry.branches[0].entries[0].output_result]).toEqual([
      new Raw(context),
      new Raw(context),
    ]);
    expect(renderJson({ context: entry.changes.set, wait: undefined, list: [1, null] })).toBe(
      '{"context":{"total": 850.0},"list":[1,null]}',
    );
  });
});

describe("formatted JSON", () => {
  it("has one member per line, and keeps the text of numbers", () => {
    expect(formatJson('{"vat":850.0,"ids":[12345678901234567890,[]],"none":{}}')).toBe(
      '{\n  "vat": 850.0,\n  "ids": [\n    12345678901234567890,\n    []\n  ],\n  "none": {}\n}',
    );
  });

  it("has the same value as the original text, and does not change if it is formatted a second time", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const pretty = formatJson(text);
        expect(JSON.parse(pretty)).toEqual(JSON.parse(text));
        expect(formatJson(pretty)).toBe(pretty);
      }),
    );
  });
});
