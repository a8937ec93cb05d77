import { expect, it } from "vitest";
import { given } from "../../packages/workflow/src/given.ts";

it("leaves out fields that are undefined, and no others", () => {
  expect(Object.entries(given({ a: undefined, b: null, c: 0, d: "", e: false }))).toEqual([
    ["b", null],
    ["c", 0],
    ["d", ""],
    ["e", false],
  ]);
});
