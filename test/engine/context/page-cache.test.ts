import { expect, it } from "vitest";
import { PageCache } from "../../../packages/engine/src/context/page-cache.ts";

it("keeps the texts that were asked for last, as many as fit", () => {
  const cache = new PageCache(10);
  for (const name of ["a", "b", "c"]) cache.set(name, `${name}${name}${name}`);
  expect(cache.get("a")).toBe("aaa");
  cache.set("d", "dddd");
  expect(["a", "b", "c", "d"].map((name) => cache.get(name))).toEqual(["aaa", undefined, "ccc", "dddd"]);
});

it("counts a text once, however often it is set", () => {
  const cache = new PageCache(10);
  for (let times = 0; times < 5; times++) cache.set("a", "aaaa");
  cache.set("b", "bbbb");
  expect([cache.get("a"), cache.get("b")]).toEqual(["aaaa", "bbbb"]);
});

it("keeps nothing that is too long for it", () => {
  const cache = new PageCache(3);
  cache.set("a", "aaaa");
  expect(cache.get("a")).toBeUndefined();
  cache.set("b", "");
  expect(cache.get("b")).toBe("");
});
