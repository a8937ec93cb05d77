import fc from "fast-check";
import { expect, it } from "vitest";
import { at, segmentsOf } from "../../../packages/workflow/src/findings/path.ts";

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
