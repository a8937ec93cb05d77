import { forksOf, nodeIndex, type Workflow } from "@nova/workflow";
import fc from "fast-check";
import { expect, it } from "vitest";
import { meetingsIn } from "../../../packages/workflow/src/graph/branching.ts";
import { graphOf } from "../../../packages/workflow/src/graph/graph.ts";
import { action, decision, each, end, graph, mustParse, start } from "../definition.ts";
import { anyProgram, bodyOf } from "./random-body.ts";
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

const around = { format: 1, id: "test", name: "Test", requirements: [], lib: {} } as const;

function workflowOf({ nodes, edges }: Pick<Workflow, "nodes" | "edges">): Workflow {
  return { ...around, requirements: [], nodes, edges };
}

it("the forks and joins are those of the program from which the graph was made", () => {
  fc.assert(
    fc.property(anyProgram, (steps) => {
      const told = bodyOf(steps);
      const found = [...forksOf(workflowOf(told)).values()];
      const plain = found.map(({ node, kind, branches, next }) => ({
        node,
        kind,
        branches: branches.map(({ entry, nodes }) => ({ entry, nodes: nodes.toSorted() })),
        next,
      }));
      const expected = told.forks.map((fork) => ({
        ...fork,
        branches: fork.branches.map(({ entry, nodes }) => ({ entry, nodes: nodes.toSorted() })),
      }));
      const byNode = (a: { node: string }, b: { node: string }) => (a.node < b.node ? -1 : 1);
      expect(plain.sort(byNode)).toEqual(expected.sort(byNode));
    }),
    { numRuns: 500 },
  );
});

it("the graph of such a program parses", () => {
  fc.assert(
    fc.property(anyProgram, (steps) => {
      const { nodes, edges } = bodyOf(steps);
      const authored = JSON.parse(JSON.stringify({ id: "test", nodes, edges }), (_, value) => {
        const { executor, timeoutSeconds: _timeout, body, maxConcurrency: _most, ...node } = value ?? {};
        return executor ? { ...node, code: "a = 1" } : body ? { ...node, ...body } : value;
      });
      expect(mustParse(authored).nodes).toHaveLength(nodes.length);
    }),
  );
});

it("the failure of a fork's own node is a separate path in the fork's branch", () => {
  const nodes = [
    start,
    action("a", { onError: "h" }),
    ...["b", "c", "d", "h", "j"].map((id) => action(id)),
    action("e"),
    end,
  ];
  const arrows = ["start > a", "start > e", "a > b", "a > c", "b > d", "c > d", "d > j", "h > j", "e > j", "j > end"];
  const forks = forksOf(mustParse(graph(nodes, arrows)));
  expect(forks.get("start")).toMatchObject({
    next: "j",
    branches: [
      { entry: "a", nodes: ["a", "d", "h"] },
      { entry: "e", nodes: ["e"] },
    ],
  });
  expect(forks.get("a")).toMatchObject({ next: "d", branches: [{ nodes: ["b"] }, { nodes: ["c"] }] });
});

it("the edges after a map may be branches of its join", () => {
  const nodes = [start, each("m", [action("one")], [], { merge: "collect" }), action("a"), action("b"), end];
  const forks = forksOf(mustParse(graph(nodes, ["start > m", "m > a", "m > b", "a > end", "b > end"])));
  expect([...forks.values()]).toEqual([
    { node: "m", kind: "map", branches: [{ entry: "one", nodes: ["one"] }], next: "m.join", merge: "unique" },
    {
      node: "m.join",
      kind: "parallel",
      branches: [
        { entry: "a", nodes: ["a"] },
        { entry: "b", nodes: ["b"] },
      ],
      next: "end",
      merge: "collect",
    },
  ]);
});

it("the end of an item is no place", () => {
  const body = [action("one"), decision("d"), action("x"), { id: "done", type: "end" }, { id: "over", type: "end" }];
  const arrows = ["one > d", "d > x: true", "d > done: false", "x > over"];
  const inner = each("inner", [action("two")]);
  const last = each("last", [action("three"), inner, { id: "off", type: "end" }], ["three > inner", "inner > off"]);
  const workflow = mustParse(
    graph([start, each("m", body, arrows), last, end], ["start > m", "m > last", "last > end"]),
  );
  const forks = forksOf(workflow);
  expect(forks.get("m")?.branches).toEqual([{ entry: "one", nodes: ["one", "d", "x"] }]);
  expect([forks.get("m")?.next, forks.get("last")?.next, forks.get("inner")?.next]).toEqual(["last", "end", null]);
});

it("the index has every node, its edges, and the map around it", () => {
  const inner = each("inner", [action("one"), action("two")], ["one > two"]);
  const workflow = mustParse(graph([start, each("outer", [inner]), end], ["start > outer", "outer > end"]));
  const index = nodeIndex(workflow);
  expect([...index].map(([id, { body, edges }]) => [id, body, edges.map(({ to }) => to)])).toEqual([
    ["start", null, ["outer"]],
    ["outer", null, ["end"]],
    ["inner", "outer", []],
    ["one", "inner", ["two"]],
    ["two", "inner", []],
    ["end", null, []],
  ]);
  expect(nodeIndex(workflow)).toBe(index);
  expect(forksOf(workflow)).toBe(forksOf(workflow));
});

it("nested forks may be 3,000 levels deep", () => {
  const deep = Array.from({ length: 3_000 }, (_, index) => index);
  const nodes = [
    start,
    ...deep.flatMap((index) => [action(`f${index}`), action(`a${index}`), action(`j${index}`)]),
    action("core"),
    end,
  ];
  const arrows = deep.flatMap((index) => [
    `f${index} > ${index + 1 < deep.length ? `f${index + 1}` : "core"}`,
    `f${index} > a${index}`,
    `a${index} > j${index}`,
    `j${index} > ${index > 0 ? `j${index - 1}` : "end"}`,
  ]);
  const workflow = mustParse(graph(nodes, ["start > f0", ...arrows, `core > j${deep.length - 1}`]));
  const forks = forksOf(workflow);
  expect(forks.size).toBe(3_000);
  expect(forks.get("f7")).toMatchObject({ next: "j7", branches: [{ nodes: ["f8", "j8"] }, { nodes: ["a7"] }] });
});
