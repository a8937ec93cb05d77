import type { Workflow } from "@nova/workflow";
import type { StartRequest } from "./start.ts";

/** Nodes of a workflow whose code a model writes. */
export function promptNodes({ nodes }: Pick<Workflow, "nodes">): string[] {
  return nodes.filter((node) => "executor" in node && node.executor.kind === "prompt").map(({ id }) => id);
}

/** Why these nodes cannot be written anew, one sentence with the way out; null: they can. */
export function freshProblem(
  workflow: Pick<Workflow, "nodes">,
  { fresh = [], frozen = false }: Pick<StartRequest, "fresh" | "frozen">,
): string | null {
  if (fresh.length === 0) return null;
  if (frozen)
    return "a frozen run asks no model, and fresh code is a model's - leave out frozen (or NOVA_FROZEN), or fresh";
  const ids = promptNodes(workflow);
  const stranger = fresh.find((id) => !ids.includes(id));
  if (stranger === undefined) return null;
  const advice = ids.length === 0 ? "this workflow has none" : `its prompt nodes are ${ids.join(", ")}`;
  return `there is no prompt node "${stranger}" whose code could be written anew - ${advice}`;
}
