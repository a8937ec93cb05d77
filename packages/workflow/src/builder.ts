import type { Authored, AuthoredMap, AuthoredNode, AuthoredWorkflowMap } from "./authored/kinds.ts";
import type { AuthoredWorkflow } from "./authored/workflow.ts";
import type { Condition } from "./workflow.ts";

type Fields<Node> = Omit<Node, "id" | "type">;
type FailingFields<Node, Target extends string> = Omit<Fields<Node>, "onError"> & { onError?: Target };

/**
 * A built node. Its fields are in `NoInfer`, so that TypeScript infers the target of `onError` only from the node
 * itself.
 */
type Made<Type extends string, Fields> = Fields & { type: Type };

/** A node in `nodes`, where its key is its id. `Target` is the type of the id in `onError`. */
type NodeOf<Target extends string> =
  | (Fields<Authored<"start">> & { type: "start" })
  | (Fields<Authored<"end">> & { type: "end" })
  | (FailingFields<Authored<"action">, Target> & { type: "action" })
  | (FailingFields<Authored<"decision">, Target> & { type: "decision" })
  | (FailingFields<AuthoredMap, Target> & { type: "map" })
  | (FailingFields<Authored<"approval">, Target> & { type: "approval" })
  | (FailingFields<AuthoredWorkflowMap, Target> & { type: "map" })
  | (FailingFields<Authored<"wait">, Target> & { type: "wait" })
  | (FailingFields<Authored<"workflow">, Target> & { type: "workflow" });

interface Graph<Id extends string> {
  nodes: Record<Id, NodeOf<NoInfer<Id>>>;
  edges: { from: NoInfer<Id>; to: NoInfer<Id>; condition?: Condition; max?: number }[];
}

export interface WorkflowDefinition<Id extends string> extends Omit<AuthoredWorkflow, "nodes" | "edges">, Graph<Id> {}

type MapFields<Id extends string, Target extends string> = Graph<Id> &
  Omit<FailingFields<AuthoredMap, Target>, "nodes" | "edges">;

export function start(fields: Fields<Authored<"start">> = {}) {
  return { type: "start" as const, ...fields };
}

export function end(fields: Fields<Authored<"end">> = {}) {
  return { type: "end" as const, ...fields };
}

type Failing<Node, Type extends string> = <const Target extends string = never>(
  fields: FailingFields<Node, Target>,
) => Made<Type, FailingFields<Node, NoInfer<Target>>>;

/**
 * Returns the function that builds nodes of a type. A node with a prompt gets the executor `prompt`, unless the node
 * names another executor.
 */
function maker<Type extends "action" | "decision" | "approval" | "wait" | "workflow">(
  type: Type,
): Failing<Authored<Type>, Type> {
  return (fields) => {
    const { prompt, promptFile } = fields as Pick<Authored<"action">, "prompt" | "promptFile">;
    const executor = prompt === undefined && promptFile === undefined ? {} : { executor: "prompt" };
    return { type, ...executor, ...fields };
  };
}

export const action = maker("action");
export const decision = maker("decision");
export const approval = maker("approval");
export const wait = maker("wait");
export const workflow = maker("workflow");

/**
 * Builds a map. A map either has a body or runs another workflow. The edges and the `onError` in a body can only name
 * nodes of that body.
 */
export function map<const Id extends string, const Target extends string = never>(
  fields: MapFields<Id, Target>,
): Made<"map", FailingFields<AuthoredMap, Target>>;
export function map<const Target extends string = never>(
  fields: FailingFields<AuthoredWorkflowMap, Target>,
): Made<"map", FailingFields<AuthoredWorkflowMap, Target>>;
export function map<Id extends string, Target extends string>(
  fields: MapFields<Id, Target> | FailingFields<AuthoredWorkflowMap, Target>,
): object {
  return "nodes" in fields
    ? { type: "map" as const, ...fields, nodes: listOf(fields.nodes) }
    : { type: "map" as const, ...fields };
}

/**
 * Builds a workflow in TypeScript: the same JSON that people write by hand. An id that `nodes` lacks does not compile.
 *
 *     defineWorkflow({
 *       name: "Invoices",
 *       nodes: { start: start(), extract: action({ codeFile: "extract.py" }), end: end() },
 *       edges: [{ from: "start", to: "extract" }, { from: "extract", to: "end" }],
 *     });
 */
export function defineWorkflow<const Id extends string>({ nodes, ...rest }: WorkflowDefinition<Id>): AuthoredWorkflow {
  return { ...rest, nodes: listOf(nodes) };
}

function listOf<Id extends string>(nodes: Record<Id, NodeOf<Id>>): AuthoredNode[] {
  return Object.entries<NodeOf<Id>>(nodes).map(([id, node]) => ({ id, ...node }));
}
