import fc from "fast-check";
import { expect, it } from "vitest";
import { findCycles } from "../../../packages/workflow/src/graph/cycles.ts";
import { graphOf } from "../../../packages/workflow/src/graph/graph.ts";
import { anyGraph, leadsTo, longRow } from "./random-graph.ts";

it("finds only rings of arrows, and one in every knot", () => {
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

it("lists a cycle in the order of its arrows", () => {
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

it("needs no stack for a long row", () => {
  expect(findCycles(longRow(50_000))).toEqual([]);
});
