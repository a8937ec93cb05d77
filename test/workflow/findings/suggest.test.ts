import { expect, it } from "vitest";
import { didYouMean } from "../../../packages/workflow/src/findings/suggest.ts";

const ids = ["start", "read_mail", "extract", "end"];

it.each([
  ["raed_mail", "read_mail"],
  ["Extract", "extract"],
  ["END", "end"],
  ["strat", "start"],
])("guesses what %s was to be", (wrong, meant) => {
  expect(didYouMean(wrong, ids)).toBe(` - did you mean "${meant}"?`);
});

it.each(["notify", "x", "and then", ""])("makes no wild guess for %j", (wrong) => {
  expect(didYouMean(wrong, ids)).toBe("");
});

it("has nothing to say without candidates", () => {
  expect(didYouMean("read", [])).toBe("");
});
