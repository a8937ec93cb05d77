/** A workflow with forks or maps, and the result that a run must have even if faults happen. */
export interface ForkedRun {
  workflow: object;
  context?: object;
  path: string[];
  values: object;
}

export const action = (id: string, code: string, more: object = {}) => ({ id, type: "action", code, ...more });

/** Parses lines such as `"a > b > c"` into edges. */
export function ways(...lines: string[]): { from: string; to: string }[] {
  return lines.flatMap((line) => {
    const ids = line.split(" > ");
    return ids.slice(1).map((to, i) => ({ from: ids[i] as string, to }));
  });
}

export function between(id: string, nodes: object[], edges: object[]): object {
  return { id, nodes: [{ id: "start", type: "start" }, ...nodes, { id: "end", type: "end" }], edges };
}

/** Builds a workflow with two branches that set the same key. `merge` says which value the join keeps. */
export function twoThatSet(key: string, merge?: string): object {
  return between(
    `merge-${merge ?? "none"}`,
    [
      action("fork", "pass", merge ? { merge } : {}),
      action("first", `context['${key}'] = 'first'; context['of_first'] = 1`),
      action("second", `context['${key}'] = 'second'`),
    ],
    ways("start > fork > first > end", "fork > second > end"),
  );
}

const merged = (merge: string, value: unknown): ForkedRun => ({
  workflow: twoThatSet("name", merge),
  path: ["start", "fork", "first", "second", "end"],
  values: { name: value, of_first: 1 },
});

/**
 * A workflow with a fork whose first branch has another fork. The second branch has a decision and a node whose failure
 * is caught.
 */
const nested: ForkedRun = {
  workflow: between(
    "nested",
    [
      action("left", "context['left'] = [1]"),
      action("left_a", "context['a'] = context['left'] + ['a']"),
      action("left_b", "context['b'] = context['left'] + ['b']"),
      action("left_both", "context['both'] = context['a'] + context['b']"),
      { id: "right", type: "decision", code: "context['branch_decision'] = context['n'] > 1" },
      action("risky", "context['lost'] = 1\nraise ValueError('as planned')", { onError: "rescue" }),
      action("rescue", "context['rescued'] = context['error']['message']"),
      action("plain", "context['plain'] = 1"),
      action("all", "context['sum'] = len(context['both']) + len(context['rescued'])"),
    ],
    [
      ...ways("start > left > left_a > left_both > all > end", "left > left_b > left_both"),
      ...ways("start > right", "risky > all", "rescue > all", "plain > all"),
      { from: "right", to: "risky", condition: true },
      { from: "right", to: "plain", condition: false },
    ],
  ),
  context: { n: 2 },
  path: ["start", "left", "left_a", "left_b", "left_both", "right", "risky", "rescue", "all", "end"],
  values: {
    n: 2,
    left: [1],
    a: [1, "a"],
    b: [1, "b"],
    both: [1, "a", 1, "b"],
    rescued: "ValueError: as planned",
    sum: 4 + "ValueError: as planned".length,
  },
};

/** A workflow with a map over blobs. The body of the map has a decision, and the map tolerates one failed item. */
const mapped: ForkedRun = {
  workflow: between(
    "mapped",
    [
      action("make", "context['files'] = [bytes([i]) * 10_000 for i in range(4)]"),
      {
        id: "each",
        type: "map",
        items: "files",
        max_concurrency: 2,
        tolerated_failures: 1,
        nodes: [
          action("sum", "context['sum'] = 10_000 * 10_000 // sum(context['item'])", { effects: false }),
          { id: "large", type: "decision", code: "context['branch_decision'] = context['sum'] > 5_000" },
          action("keep", "context['kept'] = context['index']"),
          action("drop", "del context['sum']"),
        ],
        edges: [
          ...ways("sum > large"),
          { from: "large", to: "keep", condition: true },
          { from: "large", to: "drop", condition: "default" },
        ],
      },
      action("tidy", "del context['files']"),
    ],
    ways("start > make > each > tidy > end"),
  ),
  path: [
    "start",
    "make",
    "each",
    "sum",
    "sum",
    "large",
    "keep",
    "sum",
    "large",
    "drop",
    "sum",
    "large",
    "drop",
    "tidy",
    "end",
  ],
  values: {
    results: [
      { error: { node: "sum", class: "NodeFailed", message: "ZeroDivisionError: integer division or modulo by zero" } },
      { sum: 10_000, kept: 1 },
      {},
      {},
    ],
  },
};

export const forkedRuns: Record<string, ForkedRun> = {
  "the last edge wins": merged("last", "second"),
  "a key that two branches set becomes a list": merged("collect", ["first", "second"]),
  "a fork in a branch, beside one that goes on after a failure": nested,
  "a map over bytes that tolerates a failure": mapped,
};
