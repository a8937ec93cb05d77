import { expect, test } from "vitest";
import { chooseBenches } from "../../bench/bench.ts";

test("all benches are chosen without names", () => {
  expect(chooseBenches([])).toHaveLength(19);
});

test("named benches are chosen in the order of all benches", () => {
  const both = chooseBenches(["waiting", "forty-nodes"]);
  expect(both).toEqual([...chooseBenches(["forty-nodes"]), ...chooseBenches(["waiting"])]);
});

test("an unknown name is refused with all valid names", () => {
  expect(() => chooseBenches(["forty"])).toThrow(
    /^there is no figure "forty" - choose of cold-run, at-once, plans, fair, memory, references, responsive, forty-nodes, .*, waiting, restart, session, stress$/,
  );
});
