import fc from "fast-check";
import type { Edge, MapNode, Node } from "../../../packages/workflow/src/workflow.ts";

/** A program of well-formed steps that is turned into a graph. */
export type Step =
  | { kind: "action"; fails: boolean }
  | { kind: "choice"; sides: Step[][] }
  | { kind: "fork"; branches: Step[][] }
  | { kind: "map"; body: Step[]; ends: boolean };

export const anyProgram: fc.Arbitrary<Step[]> = fc.letrec<{ steps: Step[]; step: Step }>((tie) => {
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

/** A fork of a program: its branches with all nodes, and their meeting. */
export interface ToldFork {
  node: string;
  kind: "parallel" | "map";
  branches: { entry: string; nodes: string[] }[];
  next: string | null;
}

export interface ToldBody {
  nodes: Node[];
  edges: Edge[];
  forks: ToldFork[];
}

/** The graph of a program between a start and an end. */
export function bodyOf(steps: Step[]): ToldBody {
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

  /** Adds the steps in a row before `next`; `direct` are the nodes that belong to no inner branch. */
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
        return told(id, [action(id, step.fails ? next : null)], arrows(id, [next]));
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
    // If a node follows, a choice may lead there directly.
    if (next !== null) edges.push({ from: id, to: next, condition: "default" });
    return merged(told(id, [{ ...action(id, null), type: "decision" }], edges), inner, (one) => one.direct);
  }

  private fork(id: string, branches: Step[][], next: string | null): Told {
    const inner = branches.map((branch) => this.body(branch, next));
    const nodes = inner.map(({ entry, direct }) => ({ entry, nodes: direct }));
    this.forks.push({ node: id, kind: "parallel", branches: nodes, next });
    return merged(
      told(
        id,
        [action(id, null)],
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

function action(id: string, onError: string | null): Node & { type: "action" } {
  const executor = { kind: "code", code: "a = 1" } as const;
  return { id, type: "action", executor, timeoutSeconds: 60, ...(onError !== null && { onError }) };
}
