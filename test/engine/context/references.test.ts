import { RawJson } from "@nova/workflow";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  asWritten,
  escapeReferences,
  referencesIn,
  referenceText,
} from "../../../packages/engine/src/context/references.ts";

const ref = { sha256: "ab".repeat(32), bytes: 7, type: "text" } as const;
const reference = referenceText(ref);

it("referencesIn finds every reference in a value", () => {
  expect(referencesIn(`{"a":[${reference}],"b":{"c":${reference}},"d":1}`)).toEqual([ref, ref]);
});

it.each([
  ["more than the mark", `{"$blob":${JSON.stringify(ref)},"x":1}`],
  ["no hash", '{"$blob":{"sha256":"ab","bytes":7,"type":"text"}}'],
  ["no length", `{"$blob":{"sha256":"${ref.sha256}","type":"text"}}`],
  ["a type that is none", `{"$blob":{"sha256":"${ref.sha256}","bytes":7,"type":"code"}}`],
  ["nothing", '{"$blob":null}'],
  ["the mark as text", '["$blob"]'],
])("referencesIn treats an object with %s as data", (_what, text) => {
  expect(referencesIn(text)).toEqual([]);
});

describe("a value for readers", () => {
  const read = (text: string) => asWritten({ context: new RawJson(text) }).context.text;

  it.each([
    ['{"$$blob":1,"n":850.0}', '{"$blob":1,"n":850.0}'],
    ['[{"$$$blob":{"$$blob":12345678901234567890}}]', '[{"$$blob":{"$blob":12345678901234567890}}]'],
    [`{"a":${reference}}`, `{"a":${reference}}`],
  ])("has the original keys of %s", (stored, written) => {
    expect(read(stored)).toBe(written);
  });

  it.each(["$blob", "$$blob"])("keeps one more $ if data with the key %s looks like a reference", (key) => {
    const stored = escapeReferences(JSON.stringify({ a: { [key]: ref } }));
    expect(read(stored)).toBe(stored);
  });

  it("has a distinct text, and contains only real references", () => {
    const { tree } = trees();
    fc.assert(
      fc.property(tree, tree, (one, other) => {
        const [a, b] = [one, other].map((value) => JSON.stringify(value)) as [string, string];
        expect(referencesIn(read(escapeReferences(a)))).toEqual([]);
        expect(read(escapeReferences(a)) === read(escapeReferences(b))).toBe(a === b);
      }),
    );
  });
});

function trees() {
  const key = fc.constantFrom("$blob", "$$blob", "a");
  return fc.letrec((tie) => ({
    tree: fc.oneof(
      { withCrossShrink: true },
      fc.constant(JSON.parse(reference)),
      fc.array(tie("tree")),
      fc.dictionary(key, tie("tree")),
    ),
  }));
}

describe("escapeReferences", () => {
  it.each([
    ['{"$blob":1}', '{"$$blob":1}'],
    ['{"$$blob":{"$blob":850.0}}', '{"$$$blob":{"$$blob":850.0}}'],
    ['[{"\\u0024bl\\u006fb":12345678901234567890}]', '[{"$$blob":12345678901234567890}]'],
  ])("turns %s into %s", (text, escaped) => {
    expect(escapeReferences(text)).toBe(escaped);
  });

  it.each(['{"a": 850.0}', '{"blob":1}', '["$blob"]', '{"x$blob":1 }', '"\\u00e9"'])("leaves %s unchanged", (text) => {
    expect(escapeReferences(text)).toBe(text);
  });

  it("leaves no reference in a client's text", () => {
    const { tree } = trees();
    fc.assert(
      fc.property(tree, (value) => {
        expect(referencesIn(escapeReferences(JSON.stringify(value)))).toEqual([]);
      }),
    );
  });
});
