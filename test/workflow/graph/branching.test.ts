import { forksOf, nodeIndex, type Workflow } from "@nova/workflow";
import fc from "fast-check";
import { expect, it } from "vitest";
import { meetingsIn } from "../../../packages/workflow/src/graph/branching.ts";
import { graphOf } from "../../../packages/workflow/src/graph/graph.ts";
import type { Edge, MapNode, Node } from "../../../packages/workflow/src/workflow.ts";
import { action, decision, each, end, graph, mustParse, start } from "../definition.ts";
import { acyclicGraph, anyGraph, comesToEnd, firstCommon, isUnavoidable, waysFrom } from "./random-graph.ts";

/** A step of a random program, from which a graph with known forks is built. */
type Step =
  | { kind: "action"; fails: boolean }
  | { kind: "choice"; sides: Step[][] }
  | { kind: "fork"; branches: Step[][] }
  | { kind: "map"; body: Step[]; ends: boolean };

const anyProgram: fc.Arbitrary<Step[]> = fc.letrec<{ steps: Step[]; step: Step }>((tie) => {
  const steps = fc.array(tie("step"), { minLength: 1, maxLength: 3 });
  return {
    steps,
    step: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.record({ kind: fc.constant("action" as const), fails: fc.boolean() }),
      fc.record({
        kind: fc.constant("choice" as const),
        sides: fc.array(tie("steps"), { minLength: 1, maxLength: 2 }),
      }),
      fc.record({
        kind: fc.constant("fork" as const),
        branches: fc.array(tie("steps"), { minLength: 2, maxLength: 3 }),
      }),
      fc.record({ kind: fc.constant("map" as const), body: tie("steps"), ends: fc.boolean() }),
    ),
  };
}).steps;

/** An expected fork: its branches with all of their nodes, and the node at which they meet. */
interface ToldFork {
  node: string;
  kind: "parallel" | "map";
  branches: { entry: string; nodes: string[] }[];
  next: string | null;
}

interface ToldBody {
  nodes: Node[];
  edges: Edge[];
  forks: ToldFork[];
}

/** Builds the graph of a program between a start and an end, with its expected forks. */
function bodyOf(steps: Step[]): ToldBody {
  const writer = new Writer();
  const told = writer.body(steps, "end");
  const start: Node = { id: "start", type: "start" };
  return {
    nodes: [start, ...told.nodes, { id: "end", type: "end" }],
    edges: [{ from: "start", to: told.entry }, ...told.edges],
    forks: writer.forks,
  };
}

type Told = { entry: string; nodes: Node[]; edges: Edge[]; direct: string[] };

class Writer {
  readonly forks: ToldFork[] = [];
  private count = 0;

  /** Adds the steps in a row before `next`. Returns as `direct` the nodes that are in no inner branch. */
  body(steps: Step[], next: string | null): Told {
    const [first, ...others] = steps;
    if (!first) throw new TypeError("a program has steps");
    const rest = others.length > 0 ? this.body(others, next) : undefined;
    const own = this.step(first, rest ? rest.entry : next);
    return {
      entry: own.entry,
      nodes: [...own.nodes, ...(rest?.nodes ?? [])],
      edges: [...own.edges, ...(rest?.edges ?? [])],
      direct: [...own.direct, ...(rest?.direct ?? [])],
    };
  }

  private step(step: Step, next: string | null): Told {
    const id = `${step.kind[0]}${this.count++}`;
    switch (step.kind) {
      case "action":
        return told(id, [actionNode(id, step.fails ? next : null)], arrows(id, [next]));
      case "choice":
        return this.choice(id, step.sides, next);
      case "fork":
        return this.fork(id, step.branches, next);
      case "map":
        return this.map(id, step, next);
    }
  }

  private choice(id: string, sides: Step[][], next: string | null): Told {
    const inner = sides.map((side) => this.body(side, next));
    const edges = inner.map(({ entry }, index) => ({ from: id, to: entry, condition: `${index}` }));
    // A choice also gets an edge to the node after it, if there is one.
    if (next !== null) edges.push({ from: id, to: next, condition: "default" });
    return merged(told(id, [{ ...actionNode(id, null), type: "decision" }], edges), inner, (one) => one.direct);
  }

  private fork(id: string, branches: Step[][], next: string | null): Told {
    const inner = branches.map((branch) => this.body(branch, next));
    const nodes = inner.map(({ entry, direct }) => ({ entry, nodes: direct }));
    this.forks.push({ node: id, kind: "parallel", branches: nodes, next });
    return merged(
      told(
        id,
        [actionNode(id, null)],
        arrows(
          id,
          inner.map(({ entry }) => entry),
        ),
      ),
      inner,
      () => [],
    );
  }

  private map(id: string, { body, ends }: Step & { kind: "map" }, next: string | null): Told {
    const done = `${id}_done`;
    const inner = this.body(body, ends ? done : null);
    const nodes: Node[] = ends ? [...inner.nodes, { id: done, type: "end" }] : inner.nodes;
    const node: MapNode = {
      id,
      type: "map",
      items: "list",
      as: "item",
      into: "results",
      maxConcurrency: 5,
      body: { nodes, edges: inner.edges },
    };
    for (const fork of this.forks) if (fork.next === done) fork.next = null;
    this.forks.push({ node: id, kind: "map", branches: [{ entry: inner.entry, nodes: inner.direct }], next });
    return told(id, [node], arrows(id, [next]));
  }
}

function told(id: string, nodes: Node[], edges: Edge[]): Told {
  return { entry: id, nodes, edges, direct: [id] };
}

function merged(own: Told, inner: Told[], direct: (one: Told) => string[]): Told {
  return {
    entry: own.entry,
    nodes: [...own.nodes, ...inner.flatMap((one) => one.nodes)],
    edges: [...own.edges, ...inner.flatMap((one) => one.edges)],
    direct: [...own.direct, ...inner.flatMap(direct)],
  };
}

function arrows(from: string, targets: (string | null)[]): Edge[] {
  return targets.flatMap((to) => (to === null ? [] : [{ from, to }]));
}

function actionNode(id: string, onError: string | null): Node & { type: "action" } {
  const executor = { kind: "code", code: "a = 1" } as const;
  return { id, type: "action", executor, timeoutSeconds: 60, ...(onError !== null && { onError }) };
}

it("the meeting node of several nodes is the first node that lies on all paths from them", () => {
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

it("the meeting node of several nodes is found even in a graph with cycles", () => {
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

it("the meeting node of several nodes is found without a stack overflow in a row of 20,000 nodes", () => {
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

it("the forks and joins of a random graph are those of the program from which the graph was generated", () => {
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

it("the graph of a random program is accepted by the parser of definitions", () => {
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

it("the target of a fork's onError is in no branch of this fork, but in the branch that contains the fork", () => {
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

it("several edges after a map begin the branches of a fork that starts at the map's join", () => {
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

it("an end node in the body of a map is in no branch, and never counts as the node after a map", () => {
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

it("nodeIndex has every node of a workflow with its edges and the map that contains it", () => {
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

it("forksOf finds forks that are nested 3,000 levels deep", () => {
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
