import type { Body, Condition, Edge, MapNode, Node, StepNode, Workflow } from "@nova/workflow";

type Options = Partial<Pick<StepNode, "effects" | "onError" | "retry" | "isolation" | "merge" | "timeoutSeconds">>;
/**
 * An edge such as `["a", "b"]`. The third element is the condition of an edge from a decision. The fourth is the `max`
 * of an edge that leads back to an earlier node.
 */
export type Arrow = [from: string, to: string, condition?: Condition, max?: number];

/**
 * Builds a normalised workflow and adds `start` and `end`. It skips the checks, so tests can build invalid workflows.
 */
export function flow(id: string, tasks: Node[], arrows: Arrow[], more: Partial<Workflow> = {}): Workflow {
  const nodes: Node[] = [{ id: "start", type: "start" }, ...tasks, { id: "end", type: "end" }];
  return { format: 1, id, name: id, requirements: [], lib: {}, nodes, edges: edgesOf(arrows), ...more };
}

/** Parses lines such as `"start > a > end"` into edges without conditions. */
export function lines(...texts: string[]): Arrow[] {
  return texts.flatMap((text) => {
    const ids = text.split(" > ");
    return ids.slice(1).map((to, i): Arrow => [ids[i] as string, to]);
  });
}

function edgesOf(arrows: Arrow[]): Edge[] {
  return arrows.map(([from, to, condition, max]) => ({
    from,
    to,
    ...(condition !== undefined && { condition }),
    ...(max !== undefined && { max }),
  }));
}

/** Builds a map over the context's `list`; `options` override its fields. */
export function mapOver(id: string, nodes: Node[], arrows: Arrow[], options: Partial<MapNode> = {}): MapNode {
  const body: Body = { nodes, edges: edgesOf(arrows) };
  return { id, type: "map", items: "list", as: "item", into: id, body, maxConcurrency: 2, ...options };
}

export function action(id: string, options: Options = {}): StepNode {
  return { id, type: "action", executor: { kind: "code", code: `# ${id}` }, timeoutSeconds: 60, ...options };
}

export function decision(id: string, options: Options = {}): StepNode {
  return { id, type: "decision", executor: { kind: "code", code: `# ${id}` }, timeoutSeconds: 60, ...options };
}

/** Returns a copy of the node whose code a model writes. */
export function prompted<T extends StepNode>(node: T): T {
  return { ...node, executor: { kind: "prompt", prompt: `Do ${node.id}.`, samples: true, allow: [] } };
}

/** Returns a copy of the node whose result is the answer of a model. */
export function texted<T extends StepNode>(node: T): T {
  return {
    effects: false,
    credentials: [],
    ...node,
    executor: { kind: "text", prompt: `Say ${node.id}.`, into: node.id },
  };
}

const retry = { attempts: 3, delaySeconds: 5 };

/**
 * Workflows without forks for the random simulation (simulate.ts). Together they use each rule of the protocol that
 * needs no fork.
 */
export const straightFlows: Workflow[] = [
  flow("bare", [], [["start", "end"]]),
  flow(
    "linear",
    [action("a"), action("b")],
    [
      ["start", "a"],
      ["a", "b"],
      ["b", "end"],
    ],
  ),
  flow(
    "repeatable",
    [action("a", { effects: false }), action("b"), action("c", { effects: false })],
    [
      ["start", "a"],
      ["a", "b"],
      ["b", "c"],
      ["c", "end"],
    ],
  ),
  flow(
    "retried",
    [action("a", { effects: false, retry }), action("b", { effects: true })],
    [
      ["start", "a"],
      ["a", "b"],
      ["b", "end"],
    ],
  ),
  flow(
    "retry set by the author",
    [
      action("a", { retry: { attempts: 4, delaySeconds: 5, backoff: 2, jitter: true } }),
      decision("d", { retry: { attempts: 2, delaySeconds: 1, on: ["ConnectionError"] } }),
      action("b", { onError: "r", isolation: "fresh", retry: { attempts: 3, delaySeconds: 90, on: ["NodeTimeout"] } }),
      action("r", { effects: false, retry: { attempts: 5, delaySeconds: 2, on: ["ConnectionError"] } }),
    ],
    [
      ["start", "a"],
      ["a", "d"],
      ["d", "b", "yes"],
      ["d", "end", "default"],
      ["b", "end"],
      ["r", "end"],
    ],
  ),
  flow(
    "branching",
    [decision("d"), action("a"), action("b")],
    [
      ["start", "d"],
      ["d", "a", "yes"],
      ["d", "b", "default"],
      ["a", "end"],
      ["b", "end"],
    ],
  ),
  flow(
    "gap",
    [decision("d", { effects: false, retry: { attempts: 2, delaySeconds: 0 } }), action("a")],
    [
      ["start", "d"],
      ["d", "a", true],
      ["d", "end", false],
      ["a", "end"],
    ],
  ),
  flow(
    "rescued",
    [action("a", { onError: "r" }), action("b"), action("r")],
    [
      ["start", "a"],
      ["a", "b"],
      ["b", "end"],
      ["r", "end"],
    ],
  ),
  flow(
    "rescued decision",
    [decision("d", { onError: "r", effects: false }), action("a"), action("r")],
    [
      ["start", "d"],
      ["d", "a", "yes"],
      ["d", "r", "no"],
      ["a", "end"],
      ["r", "end"],
    ],
  ),
  flow(
    "rescue and retry",
    [action("a", { onError: "r", effects: false, retry }), action("r", { effects: false })],
    [
      ["start", "a"],
      ["a", "end"],
      ["r", "end"],
    ],
  ),
  flow(
    "fresh",
    [action("a"), action("b", { isolation: "fresh", effects: false }), action("c")],
    [
      ["start", "a"],
      ["a", "b"],
      ["b", "c"],
      ["c", "end"],
    ],
  ),
  flow(
    "each other's onError",
    [action("a", { onError: "b" }), action("b", { onError: "a" })],
    [
      ["start", "a"],
      ["a", "end"],
      ["b", "end"],
    ],
  ),
  flow(
    "limited",
    [action("a"), action("b", { effects: false })],
    [
      ["start", "a"],
      ["a", "b"],
      ["b", "end"],
    ],
    {
      timeoutSeconds: 600,
    },
  ),
];
