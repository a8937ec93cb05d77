import type { AuthoredAction } from "./authored/action.ts";
import type { AuthoredDecision } from "./authored/decision.ts";
import type { AuthoredEnd } from "./authored/end.ts";
import type { AuthoredStart } from "./authored/start.ts";
import type { AuthoredWorkflow } from "./authored/workflow.ts";
import type { Condition } from "./workflow.ts";

type Fields<Node> = Omit<Node, "id" | "type">;
type TaskFields<Node, Target extends string> = Omit<Fields<Node>, "onError"> & { onError?: Target };

/** A node without its id, which is its key in `nodes`; `Target` is what its `onError` names. */
export type NodeOf<Target extends string> =
  | (Fields<AuthoredStart> & { type: "start" })
  | (Fields<AuthoredEnd> & { type: "end" })
  | (TaskFields<AuthoredAction, Target> & { type: "action" })
  | (TaskFields<AuthoredDecision, Target> & { type: "decision" });

export interface WorkflowDefinition<Id extends string> extends Omit<AuthoredWorkflow, "nodes" | "edges"> {
  nodes: Record<Id, NodeOf<NoInfer<Id>>>;
  edges: { from: NoInfer<Id>; to: NoInfer<Id>; condition?: Condition }[];
}

export function start(fields: Fields<AuthoredStart> = {}) {
  return { type: "start" as const, ...fields };
}

export function end(fields: Fields<AuthoredEnd> = {}) {
  return { type: "end" as const, ...fields };
}

export function action<const Target extends string = never>(fields: TaskFields<AuthoredAction, Target>) {
  return { type: "action" as const, ...fields };
}

export function decision<const Target extends string = never>(fields: TaskFields<AuthoredDecision, Target>) {
  return { type: "decision" as const, ...fields };
}

/**
 * A workflow from TypeScript, as the JSON that people write by hand. An id that `nodes` does not have does not compile.
 *
 *     defineWorkflow({
 *       name: "Invoices",
 *       nodes: { start: start(), extract: action({ codeFile: "extract.py" }), end: end() },
 *       edges: [{ from: "start", to: "extract" }, { from: "extract", to: "end" }],
 *     });
 */
export function defineWorkflow<const Id extends string>({ nodes, ...rest }: WorkflowDefinition<Id>): AuthoredWorkflow {
  const list = Object.entries<NodeOf<Id>>(nodes).map(([id, node]) => ({ id, ...node }));
  return { ...rest, nodes: list };
}
