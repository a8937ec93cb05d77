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

it("forgives only case among thousands", () => {
  const many = Array.from({ length: 2_001 }, (_, index) => `node_${index}`);
  expect([didYouMean("nod_7", many), didYouMean("Node_7", many)]).toEqual(["", ' - did you mean "node_7"?']);
});

it("has nothing to say without candidates", () => {
  expect(didYouMean("read", [])).toBe("");
});
