import fc from "fast-check";
import { expect, it } from "vitest";
import { at, didYouMean, segmentsOf } from "../../../packages/workflow/src/findings/text.ts";

it("a path is written as JSONPath", () => {
  expect(at("$", "nodes", 2, "timeout")).toBe("$.nodes[2].timeout");
  expect(at("$", "inputs", "a b", "$blob")).toBe('$.inputs["a b"].$blob');
});

it("a written path is split into the same segments", () => {
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
])("the suggestion for %s is the intended name", (wrong, meant) => {
  expect(didYouMean(wrong, ids)).toBe(` - did you mean "${meant}"?`);
});

it.each(["notify", "x", "and then", ""])("there is no suggestion for %j", (wrong) => {
  expect(didYouMean(wrong, ids)).toBe("");
});

it("a suggestion among thousands of names ignores only case", () => {
  const many = Array.from({ length: 2_001 }, (_, index) => `node_${index}`);
  expect([didYouMean("nod_7", many), didYouMean("Node_7", many)]).toEqual(["", ' - did you mean "node_7"?']);
});

it("there is no suggestion without candidates", () => {
  expect(didYouMean("read", [])).toBe("");
});
