import { Outputs } from "@nova/workflow";
import { expect, it } from "vitest";

const outputs = new Outputs({ a: { total: 1, text: "x" }, b: { total: 2 }, __proto__x: {} });

it("finds results by node and key, and by key alone where it comes first", () => {
  expect([outputs.get("a"), outputs.get("a", "total"), outputs.get("a", "no"), outputs.get("no")]).toEqual([
    { total: 1, text: "x" },
    1,
    undefined,
    undefined,
  ]);
  expect(outputs.get("constructor", "name")).toBeUndefined();
  expect([outputs.getByKey("total"), outputs.getByKey("toString")]).toEqual([1, undefined]);
});

it("has everything as one object: the last wins, or each under its node", () => {
  expect(outputs.getFlattened()).toEqual({ total: 2, text: "x" });
  expect(outputs.getAllData()).toEqual({ "a:total": 1, "a:text": "x", "b:total": 2 });
});
