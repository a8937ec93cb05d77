import { expect, it } from "vitest";
import { graphOf } from "../../../packages/workflow/src/graph/graph.ts";

it("counts onError as an arrow and leaves out unknown nodes", () => {
  const graph = graphOf(
    [{ id: "a", onError: "c" }, { id: "b", onError: "x" }, { id: "c" }, { id: "a" }],
    [
      { from: "a", to: "b" },
      { from: "b", to: "y" },
      { from: "z", to: "a" },
    ],
  );
  expect(graph.ids).toEqual(["a", "b", "c"]);
  expect([...graph.successors]).toEqual([
    ["a", ["b", "c"]],
    ["b", []],
    ["c", []],
  ]);
  expect([...graph.predecessors]).toEqual([
    ["a", []],
    ["b", ["a"]],
    ["c", ["a"]],
  ]);
});
