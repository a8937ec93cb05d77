import fc from "fast-check";
import { expect, it } from "vitest";
import { findCycles, graphOf, groupsOf, reachableFrom } from "../../../packages/workflow/src/graph/graph.ts";
import { anyGraph, leadsTo, longRow } from "./random-graph.ts";

it("graphOf treats onError as an edge and leaves out edges to unknown nodes", () => {
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

it("reachableFrom finds exactly the nodes to which a path leads from the given node", () => {
  fc.assert(
    fc.property(anyGraph, (graph) => {
      const reached = reachableFrom(graph, ["n0"]);
      for (const id of graph.ids) expect(reached.has(id)).toBe(id === "n0" || leadsTo(graph, "n0", id));
    }),
  );
});

it("groupsOf puts every node into exactly one group, whose head has paths to all other nodes of the group", () => {
  fc.assert(
    fc.property(anyGraph, fc.infiniteStream(fc.boolean()), (graph, chosen) => {
      const members = new Set(graph.ids.filter(() => chosen.next().value));
      const groups = groupsOf(graph, members);
      expect(groups.flatMap(({ head, others }) => [head, ...others]).sort()).toEqual([...members].sort());
      for (const { head, others } of groups) for (const id of others) expect(leadsTo(graph, head, id)).toBe(true);
    }),
  );
});

it("groupsOf chooses as the head of a group a node to which no other node of the group leads", () => {
  const graph = graphOf(
    ["b", "a", "c"].map((id) => ({ id })),
    [
      { from: "a", to: "b" },
      { from: "b", to: "c" },
    ],
  );
  expect(groupsOf(graph, new Set(["a", "b", "c"]))).toEqual([{ head: "a", others: ["b", "c"] }]);
});

it("groupsOf accepts a head of a group that has an edge to itself", () => {
  const edges = [
    { from: "a", to: "a" },
    { from: "a", to: "b" },
  ];
  const graph = graphOf([{ id: "b" }, { id: "a" }], edges);
  expect(groupsOf(graph, new Set(["a", "b"]))).toEqual([{ head: "a", others: ["b"] }]);
});

it("reachableFrom needs no recursion in a row of 50,000 nodes", () => {
  expect(reachableFrom(longRow(50_000), ["n0"]).size).toBe(50_000);
});

it("findCycles returns only real cycles, and at least one for every group of nodes that reach each other", () => {
  fc.assert(
    fc.property(anyGraph, (graph) => {
      const cycles = findCycles(graph);
      for (const cycle of cycles) {
        cycle.forEach((id, index) => {
          expect(graph.successors.get(id)).toContain(cycle[(index + 1) % cycle.length]);
        });
        expect(new Set(cycle).size).toBe(cycle.length);
      }
      for (const id of graph.ids.filter((one) => leadsTo(graph, one, one))) {
        const isFound = cycles.some(
          ([head = ""]) => head === id || (leadsTo(graph, id, head) && leadsTo(graph, head, id)),
        );
        expect(isFound).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

it("findCycles returns the nodes of a cycle in the order of its edges", () => {
  const ids = ["start", "ask", "check", "end"].map((id) => ({ id }));
  const edges = [
    ["start", "ask"],
    ["ask", "check"],
    ["check", "ask"],
    ["check", "end"],
  ] as const;
  expect(
    findCycles(
      graphOf(
        ids,
        edges.map(([from, to]) => ({ from, to })),
      ),
    ),
  ).toEqual([["ask", "check"]]);
});

it("findCycles needs no recursion in a row of 50,000 nodes", () => {
  expect(findCycles(longRow(50_000))).toEqual([]);
});
