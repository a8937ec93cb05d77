import fc from "fast-check";
import { expect, it } from "vitest";
import { graphOf } from "../../../packages/workflow/src/graph/graph.ts";
import { groupsOf, reachableFrom } from "../../../packages/workflow/src/graph/reach.ts";
import { anyGraph, leadsTo, longRow } from "./random-graph.ts";

it("reaches what some way leads to, and nothing else", () => {
  fc.assert(
    fc.property(anyGraph, (graph) => {
      const reached = reachableFrom(graph, ["n0"]);
      for (const id of graph.ids) expect(reached.has(id)).toBe(id === "n0" || leadsTo(graph, "n0", id));
    }),
  );
});

it("puts every member in exactly one group, behind a head that leads to it", () => {
  fc.assert(
    fc.property(anyGraph, fc.infiniteStream(fc.boolean()), (graph, chosen) => {
      const members = new Set(graph.ids.filter(() => chosen.next().value));
      const groups = groupsOf(graph, members);
      expect(groups.flatMap(({ head, others }) => [head, ...others]).sort()).toEqual([...members].sort());
      for (const { head, others } of groups) for (const id of others) expect(leadsTo(graph, head, id)).toBe(true);
    }),
  );
});

it("leads a group by the node that nothing in it leads to", () => {
  const graph = graphOf(
    ["b", "a", "c"].map((id) => ({ id })),
    [
      { from: "a", to: "b" },
      { from: "b", to: "c" },
    ],
  );
  expect(groupsOf(graph, new Set(["a", "b", "c"]))).toEqual([{ head: "a", others: ["b", "c"] }]);
});

it("lets a node lead its group though it leads to itself", () => {
  const edges = [
    { from: "a", to: "a" },
    { from: "a", to: "b" },
  ];
  const graph = graphOf([{ id: "b" }, { id: "a" }], edges);
  expect(groupsOf(graph, new Set(["a", "b"]))).toEqual([{ head: "a", others: ["b"] }]);
});

it("needs no stack for a long row", () => {
  expect(reachableFrom(longRow(50_000), ["n0"]).size).toBe(50_000);
});
