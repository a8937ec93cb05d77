import type {
  ApprovalNode,
  Body,
  Edge,
  MapNode,
  Node,
  TaskNode,
  WaitNode,
  Workflow,
  WorkflowNode,
} from "@nova/workflow";

type Extra<N> = Partial<Omit<N, "id" | "type">>;

export const start = (id = "start"): Node => ({ id, type: "start" });
export const end = (id = "end"): Node => ({ id, type: "end" });

export function action(id: string, extra: Extra<TaskNode> = {}): TaskNode {
  return { id, type: "action", executor: { kind: "code", code: "context['x'] = 1" }, timeoutSeconds: 60, ...extra };
}

export function decision(id: string, extra: Extra<TaskNode> = {}): TaskNode {
  const code = "context['branch_decision'] = 'yes'";
  return { id, type: "decision", executor: { kind: "code", code }, timeoutSeconds: 60, ...extra };
}

export function approval(id: string, choices: string[], extra: Extra<ApprovalNode> = {}): ApprovalNode {
  return { id, type: "approval", message: "Pay it?", choices, timeoutSeconds: 3600, to: [], into: id, ...extra };
}

export function untilNode(id: string, extra: Extra<WaitNode> = {}): WaitNode {
  return { id, type: "wait", for: { kind: "seconds", seconds: 60 }, ...extra };
}

export function eventNode(id: string, extra: Extra<WaitNode> = {}): WaitNode {
  const pattern = { source: ["shop"] };
  return { id, type: "wait", for: { kind: "event", pattern, timeoutSeconds: 3600, into: id }, ...extra };
}

export function childNode(id: string, extra: Extra<WorkflowNode> = {}): WorkflowNode {
  return { id, type: "workflow", workflow: "called", output: { [id]: "$" }, ...extra };
}

export function map(id: string, body: Body, extra: Extra<MapNode> = {}): MapNode {
  return { id, type: "map", items: "mails", as: "item", into: "results", body, maxConcurrency: 5, ...extra };
}

export function body(nodes: Node[], edges: string[]): Body {
  return { nodes, edges: edges.map(edge) };
}

/** Parses an edge: `a -> b`, `a -> b : "condition"` with the condition as JSON, or `d -> a : "condition", max 3`. */
export function edge(text: string): Edge {
  const [, from = "", to = "", condition, max] = /^(\S+) -> (\S+)(?: : (.+?))?(?:, max (\d+))?$/.exec(text) ?? [];
  return {
    from,
    to,
    ...(condition !== undefined && { condition: JSON.parse(condition) }),
    ...(max !== undefined && { max: Number(max) }),
  };
}

export function workflow(nodes: Node[], edges: string[], extra: Partial<Workflow> = {}): Workflow {
  return {
    format: 1,
    id: "sample",
    name: "Sample",
    requirements: [],
    lib: {},
    nodes,
    edges: edges.map(edge),
    ...extra,
  };
}

/** Builds a workflow of a start, `count` actions in a row and an end. */
export function chainOf(count: number): Workflow {
  const ids = Array.from({ length: count }, (_, index) => `node_${index}`);
  const path = ["start", ...ids, "end"];
  const edges = path.slice(1).map((to, index) => `${path[index]} -> ${to}`);
  return workflow([start(), ...ids.map((id) => action(id)), end()], edges);
}
