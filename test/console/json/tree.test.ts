import { describe, expect, it } from "vitest";
import { createTree, type Shown } from "../../../packages/console/src/json/tree.ts";

const start: Shown = { toggled: new Map(), counts: new Map(), query: "" };

function namesOf(text: string, shown: Partial<Shown> = {}, open = 1): string[] {
  const rows = createTree([{ key: "value", text, open }])({ ...start, ...shown });
  return rows.map(({ name, depth, isRest }) => `${"  ".repeat(depth)}${isRest ? "…" : name}`);
}

describe("the tree of a JSON value", () => {
  it("lists only the first levels until the user unfolds or folds an object", () => {
    const text = '{"a":{"b":1},"c":[2]}';
    expect(namesOf(text)).toEqual(["value", "  a", "  c"]);
    expect(namesOf(text, {}, 2)).toEqual(["value", "  a", "    b", "  c", "    0"]);
    expect(namesOf(text, { toggled: new Map([["0\na", true]]) })).toEqual(["value", "  a", "    b", "  c"]);
    expect(namesOf(text, { toggled: new Map([["0", false]]) })).toEqual(["value"]);
  });

  it("lists a hundred members at first, and more after the user scrolls", () => {
    const text = JSON.stringify(Array.from({ length: 250 }, () => 0));
    expect(namesOf(text)).toHaveLength(102);
    expect(namesOf(text).at(-1)).toBe("  …");
    expect(namesOf(text, { counts: new Map([["0", 400]]) })).toHaveLength(251);
  });

  it("finds names and values at any depth, even among members that are not listed yet, and lists their parent objects", () => {
    const text = JSON.stringify([...Array.from({ length: 200 }, () => ({ x: 1 })), { deep: [{ Total: "ÄÖ (1)" }] }]);
    expect(namesOf(text, { query: "total" })).toEqual(["value", "  200", "    deep", "      0", "        Total"]);
    expect(namesOf(text, { query: "äö (1)" })).toEqual(["value", "  200", "    deep", "      0", "        Total"]);
    expect(namesOf(text, { query: "nothing" })).toEqual([]);
  });

  it("finds texts that JSON writes with escapes, and finds all digits of numbers", () => {
    expect(namesOf('{"a":"\\u00e9t\\u00e9","b":850.0}', { query: "été" })).toEqual(["value", "  a"]);
    expect(namesOf('{"a":1,"b":12345678901234567890.0}', { query: "7890.0" })).toEqual(["value", "  b"]);
  });

  it("stops a search after 500 matches", () => {
    const text = JSON.stringify(Array.from({ length: 900 }, () => "same"));
    expect(namesOf(text, { query: "same" })).toHaveLength(501);
  });

  it("shows a reference to a blob as one value, but lists the members of a user's own key `$blob`", () => {
    expect(namesOf('{"$blob":{"sha256":"a"}}', {}, 9)).toEqual(["value"]);
    expect(namesOf('{"$$blob":{"x":1}}', {}, 9)).toEqual(["value", "  $$blob", "    x"]);
  });
});
