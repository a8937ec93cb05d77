import { describe, expect, it } from "vitest";
import {
  checkOutcomes,
  type EntryReference,
  maxDocumentBytes,
  OutcomeDocument,
  OutcomesRefused,
  writeReferences,
} from "../../../packages/engine/src/chain/outcomes.ts";

const execution = "exec_01M8A1XSZGSS6K9KMK7WD1193C";
const reference = (scope: string, seq: number): EntryReference => ({ entry: { execution, scope, seq } });

describe("a document of places that refers to entries", () => {
  it("names for each place the entry whose outcome is reused, and the condition under which it is reused", () => {
    const references: [string, EntryReference][] = [
      ["find", reference("", 1)],
      ["each[3].find", { ...reference("/each@2.3", 1), condition: ["total", "limit"] }],
      ["ask", { ...reference("", 4), condition: "context" }],
      ["write", { ...reference("", 5), condition: "asked" }],
    ];
    const text = writeReferences(references);
    expect(JSON.parse(text).find).toEqual({ from: `${execution}#1` });
    expect(JSON.parse(text)["each[3].find"]).toEqual({ from: `${execution}/each@2.3#1`, if: ["total", "limit"] });
    const document = new OutcomeDocument(text);
    for (const [place, expected] of references) expect(document.at(place)).toEqual(expected);
    expect(document.at("other")).toBeUndefined();
  });

  it("says whether it has places inside the run that a workflow node starts", () => {
    const text = writeReferences([
      ["bill/", reference("", 9)],
      ["each[0].bill/inner/send", reference("", 2)],
    ]);
    const document = new OutcomeDocument(text);
    expect(["bill/", "each[0].bill/", "each[0].bill/inner/"].map((inside) => document.hasPlacesIn(inside))).toEqual([
      true,
      true,
      true,
    ]);
    expect(["bil/", "inner/", "each[0].bill/inner/send/"].some((inside) => document.hasPlacesIn(inside))).toBe(false);
  });

  it("can hold 200,000 places, and 10,000 of them take less than a megabyte", () => {
    const items = (count: number) =>
      Array.from({ length: count }, (_, index): [string, EntryReference] => [
        `each[${index}].find`,
        reference(`/each@2.${index}`, 1),
      ]);
    expect(writeReferences(items(200_000)).length).toBeLessThan(maxDocumentBytes);
    const text = writeReferences(items(10_000));
    expect(text.length).toBeLessThan(1_000_000);
    expect(() => checkOutcomes(text)).not.toThrow();
  });

  it.each([
    ["no entry", { from: execution }],
    ["an entry without an entry number", { from: `${execution}#x` }],
    ["values that it sets in addition to its entry", { from: `${execution}#1`, set: { a: 1 } }],
    ["an unknown condition", { from: `${execution}#1`, if: "never" }],
  ])("is refused if a place has %s", (_what, place) => {
    expect(() => checkOutcomes(JSON.stringify({ find: place }))).toThrow(OutcomesRefused);
  });
});
