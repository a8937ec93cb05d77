import { conditionLabel, type Workflow } from "@nova/workflow";

/** What happens at one visit of a node. `pick` chooses among the labels of a decision; past their end it fits none. */
export interface Fate {
  /**
   * `fails`: a failed entry. `unseen`: it succeeds, but its Lambda dies ten times over. `flaky`: its Lambda dies once.
   * `closed`: somebody closes the run.
   */
  kind: "succeeds" | "fails" | "unseen" | "flaky" | "closed";
  pick: number;
}

export interface Walk {
  visited: string[];
  /** `succeeded`, or the error that the execution fails with. */
  end: string;
}

export const fateOf = (fates: readonly Fate[], visit: number): Fate => fates[visit] ?? { kind: "succeeds", pick: 0 };

/** What the committed decision of a visit is; null where the node decides nothing. */
export function decisionOf(workflow: Workflow, node: string, fate: Fate): string | null {
  if (workflow.nodes.find((one) => one.id === node)?.type !== "decision") return null;
  const labels = workflow.edges.filter((edge) => edge.from === node).map((edge) => conditionLabel(edge.condition));
  const committed = [...labels, "fits none"];
  return committed[fate.pick % committed.length] ?? null;
}

/** Walks the edges of a workflow as its documentation says, knowing nothing of state machines. */
export function walk(workflow: Workflow, fates: readonly Fate[]): Walk {
  const visited: string[] = [];
  let at = workflow.edges.find((edge) => edge.from === "start")?.to as string;
  for (;;) {
    const fate = fateOf(fates, visited.length);
    visited.push(at);
    const node = workflow.nodes.find((one) => one.id === at);
    const onError = node && "onError" in node ? node.onError : undefined;
    if (fate.kind === "closed") return { visited, end: "ExecutionClosed" };
    if (fate.kind === "fails" && onError === undefined) return { visited, end: "NodeFailed" };
    // Without onError nobody asks the chain: a Lambda that died too often ends the run.
    if (fate.kind === "unseen" && onError === undefined) return { visited, end: "Lambda.Unknown" };
    if (node?.type === "end") return { visited, end: "succeeded" };
    if (fate.kind === "fails") {
      at = onError as string;
      continue;
    }
    const to = nextOf(workflow, at, decisionOf(workflow, at, fate));
    if (to === undefined) return { visited, end: "NodeFailed" };
    at = to;
  }
}

function nextOf(workflow: Workflow, node: string, decision: string | null): string | undefined {
  const edges = workflow.edges.filter((edge) => edge.from === node);
  if (decision === null) return edges[0]?.to;
  const fitting = edges.find((edge) => conditionLabel(edge.condition) === decision);
  return (fitting ?? edges.find((edge) => conditionLabel(edge.condition) === "default"))?.to;
}
