import { expect, it } from "vitest";
import { Context } from "../../../packages/engine/src/context/context.ts";

const keys = (context: Context) => context.slots().map(({ key, json, by }) => `${key}=${json}@${by}`);
const set = (...pairs: [string, string][]) => pairs.map(([key, json]) => ({ key, json }));

it("a context keeps the position of a key that is set again, and appends one that was deleted before", () => {
  const first = new Context().apply({ set: set(["a", "1"], ["b", "2"], ["c", "3"]), delete: [] }, 0);
  const second = first.apply({ set: set(["a", "4"]), delete: ["b"] }, 1);
  const third = second.apply({ set: set(["b", "5"]), delete: [] }, 2);
  expect([first, second, third].map(keys)).toEqual([
    ["a=1@0", "b=2@0", "c=3@0"],
    ["a=4@1", "c=3@0"],
    ["a=4@1", "c=3@0", "b=5@2"],
  ]);
  expect(third.writtenBy(2)).toEqual([{ key: "b", json: "5", by: 2 }]);
});

it("a context has a key that one change both deletes and sets", () => {
  const context = new Context([{ key: "a", json: "1", by: 0 }]);
  expect(keys(context.apply({ set: set(["a", "2"]), delete: ["a"] }, 1))).toEqual(["a=2@1"]);
});

it.each([
  ["email.subject", '"hi"'],
  ["email.to.1", '"b"'],
  ["email.to.2", undefined],
  ["amount", "850.0"],
  ["amount.x", undefined],
  ["a.b.c", "1"],
  // A key that has dots itself wins over the path through "a".
  ["a.b.d", undefined],
  ["missing", undefined],
])("a context reads the path %s", (path, json) => {
  const context = new Context().apply(
    {
      set: set(
        ["email", '{"subject":"hi","to":["a","b"]}'],
        ["amount", "850.0"],
        ["a.b", '{"c":1}'],
        ["a", '{"b":{"d":2}}'],
      ),
      delete: [],
    },
    0,
  );
  expect(context.get(path)).toBe(json);
});
