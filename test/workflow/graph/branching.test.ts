import fc from "fast-check";
import { expect, it } from "vitest";
import { meetingsIn } from "../../../packages/workflow/src/graph/branching.ts";
import { graphOf } from "../../../packages/workflow/src/graph/graph.ts";
import { acyclicGraph, anyGraph, comesToEnd, firstCommon, isUnavoidable, waysFrom } from "./random-graph.ts";

it("the meeting is the first node on all paths", () => {
  fc.assert(
    fc.property(acyclicGraph, fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), (graph, numbers) => {
      const meetingOf = meetingsIn(graph);
      const some = numbers.map((number) => graph.ids[number % graph.ids.length] as string);
      expect(meetingOf(some)).toBe(firstCommon(some.flatMap((id) => waysFrom(graph, id))));
      const behind = waysFrom(graph, some[0] as string).map(([, ...rest]) => rest);
      expect(meetingOf(graph.successors.get(some[0] as string) ?? [])).toBe(firstCommon(behind));
    }),
    { numRuns: 1000 },
  );
});

it("the meeting is found in a graph with cycles", () => {
  fc.assert(
    fc.property(anyGraph, fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), (graph, numbers) => {
      const ending = graph.ids.filter((id) => comesToEnd(graph, id));
      fc.pre(ending.length > 0);
      const some = numbers.map((number) => ending[number % ending.length] as string);
      const common = ending.filter((id) => some.every((from) => isUnavoidable(graph, from, id)));
      const first = common.find((id) => common.every((other) => isUnavoidable(graph, id, other)));
      expect(meetingsIn(graph)(some)).toBe(first ?? null);
    }),
    { numRuns: 1000 },
  );
});

it("the meeting is found in a long row without a stack overflow", () => {
  const rungs = Array.from({ length: 20_000 }, (_, index) => ({ id: `n${index}` }));
  const row = rungs.slice(1).map(({ id }, index) => ({ from: `n${index}`, to: id }));
  const short = rungs.slice(0, -2).map(({ id }) => ({ from: id, to: "n19999" }));
  const meetingOf = meetingsIn(graphOf(rungs, [...row, ...short]));
  expect([meetingOf(["n1", "n19999"]), meetingOf(["n19999"]), meetingOf(["n7", "n19998"])]).toEqual([
    "n19999",
    "n19999",
    "n19999",
  ]);
  const ladder = meetingsIn(
    graphOf([...rungs, { id: "z" }], [...row, ...rungs.map(({ id }) => ({ from: "z", to: id }))]),
  );
  expect([ladder(rungs.map(({ id }) => id)), ladder(["n6"])]).toEqual(["n19999", "n6"]);
});
