import { expect, test } from "vitest";
import { chooseBenches } from "../../bench/bench.ts";

test("takes every figure where none is named", () => {
  expect(chooseBenches([])).toHaveLength(18);
});

test("takes those that are named, in the order of all", () => {
  const both = chooseBenches(["waiting", "forty-nodes"]);
  expect(both).toEqual([...chooseBenches(["forty-nodes"]), ...chooseBenches(["waiting"])]);
});

test("names every figure where one is named that there is not", () => {
  expect(() => chooseBenches(["forty"])).toThrow(
    /^there is no figure "forty" - choose of cold-run, at-once, plans, fair, memory, references, forty-nodes, .*, waiting, restart, session, stress$/,
  );
});
