import { expect, it } from "vitest";
import { defined } from "../../packages/workflow/src/defined.ts";

it("defined leaves out undefined fields and no others", () => {
  expect(Object.entries(defined({ a: undefined, b: null, c: 0, d: "", e: false }))).toEqual([
    ["b", null],
    ["c", 0],
    ["d", ""],
    ["e", false],
  ]);
});
