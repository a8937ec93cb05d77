import { expect, test } from "vitest";
import { chooseBenches } from "../../bench/bench.ts";

test("chooseBenches without names returns all benches", () => {
  expect(chooseBenches([])).toHaveLength(21);
});

test("chooseBenches returns the named benches in the order in which all benches run", () => {
  const both = chooseBenches(["waiting", "forty-nodes"]);
  expect(both).toEqual([...chooseBenches(["forty-nodes"]), ...chooseBenches(["waiting"])]);
});

test("chooseBenches refuses an unknown name, and its error lists all valid names", () => {
  expect(() => chooseBenches(["forty"])).toThrow(
    /^there is no figure "forty" - choose of cold-run, at-once, plans, fair, memory, references, responsive, forty-nodes, .*, waiting, restart, session, stress$/,
  );
});
