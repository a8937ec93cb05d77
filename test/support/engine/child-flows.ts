import type { Workflow, WorkflowNode } from "@nova/workflow";
import { action, flow, lines, mapOver } from "./flows.ts";

export function child(id: string, workflow: string, options: Partial<WorkflowNode> = {}): WorkflowNode {
  return { id, type: "workflow", workflow, output: { [id]: "$" }, ...options };
}

/** Workflows that the workflows in `childFlows` call. Each node id occurs in only one of all these workflows. */
export const calledFlows: Workflow[] = [
  flow("called", [action("x"), action("y")], lines("start > x > y > end")),
  flow(
    "called-rescued",
    [action("v", { onError: "w", effects: false }), action("w")],
    lines("start > v > end", "w > end"),
  ),
  flow("called-deeper", [action("u"), child("deep", "called")], lines("start > u > deep > end")),
];

/** Workflows that call other workflows: outside branches, in a branch, for each item of a map, and nested. */
export const childFlows: Workflow[] = [
  flow("calling", [action("a"), child("c", "called"), action("b")], lines("start > a > c > b > end")),
  flow(
    "calling-rescued",
    [child("c", "called", { onError: "r" }), action("b"), action("r", { effects: false })],
    lines("start > c > b > end", "r > end"),
  ),
  flow("calling-deep", [child("c", "called-deeper"), action("b", { effects: false })], lines("start > c > b > end")),
  flow(
    "calling-beside",
    [action("f"), child("c", "called-rescued"), action("b"), action("j")],
    lines("start > f > c > j > end", "f > b > j"),
  ),
  flow(
    "calling-each",
    [mapOver("m", [child("c", "called")], [], { toleratedFailures: { count: 1 } })],
    lines("start > m > end"),
  ),
];
