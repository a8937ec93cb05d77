import fc from "fast-check";
import { expect, it } from "vitest";
import { at, didYouMean, segmentsOf } from "../../../packages/workflow/src/findings/text.ts";

it("writes paths as JSONPath does", () => {
  expect(at("$", "nodes", 2, "timeout")).toBe("$.nodes[2].timeout");
  expect(at("$", "inputs", "a b", "$blob")).toBe('$.inputs["a b"].$blob');
});

it("gets every segment back", () => {
  const segments = fc.array(fc.oneof(fc.nat(), fc.string(), fc.constantFrom("__proto__", 'a"]["b', "0", "\\")));
  fc.assert(
    fc.property(segments, (some) => {
      expect(segmentsOf(at("$", ...some))).toEqual(some);
    }),
  );
});

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
