import { expect, it } from "vitest";
import { isComplete, isScalar, shapeAt, shapeOf } from "../../packages/python/src/shape.ts";

const shape = { mail: shapeOf({ to: "a", files: [{ name: "x.pdf" }] }), total: shapeOf(1.5) };

it.each([
  [["total"], "number"],
  [["mail", "to"], "string"],
  [["mail", "files", "[]", "name"], "string"],
  [["mail", "files", "[]"], "object"],
  [["mail", "cc"], undefined],
  [["mail", "to", "deeper"], undefined],
  [["constructor"], undefined],
  [[], undefined],
])("shapeAt finds at the path %j a value of type %s", (path, type) => {
  expect(shapeAt(shape, path)?.type).toBe(type);
});

it("isComplete is true only for objects with all members known", () => {
  expect(isComplete(shapeOf({ a: 1 }))).toBe(true);
  expect(isComplete({ type: "object", size: 2, members: { a: { type: "null" } } })).toBe(false);
  expect(isComplete({ type: "object", size: 2 })).toBe(false);
  expect(isComplete(shapeOf([1]))).toBe(false);
});

it("isScalar is true only for immutable values", () => {
  expect([1, "a", null, true].map((value) => isScalar(shapeOf(value)))).toEqual([true, true, true, true]);
  expect([isScalar(shapeOf([1])), isScalar(shapeOf({})), isScalar(undefined)]).toEqual([false, false, false]);
});
