import { expect, it } from "vitest";
import { defined } from "../../packages/workflow/src/defined.ts";

it("leaves out fields that are undefined, and no others", () => {
  expect(Object.entries(defined({ a: undefined, b: null, c: 0, d: "", e: false }))).toEqual([
    ["b", null],
    ["c", 0],
    ["d", ""],
    ["e", false],
  ]);
});
