import { membersOf, type PromptTask, type WorkflowVersion } from "@nova/engine";
import type { PromptExecutor, TaskNode, Workflow } from "@nova/workflow";
import type { ContextRead, Generator } from "../../../packages/agents/src/lock/ingredients.ts";
import type { ProvenCode } from "../../../packages/agents/src/lock/pinned-codes.ts";

export const generator: Generator = generatorWith({ csv: "c".repeat(64), money: "b".repeat(64) });

export function generatorWith(guides: Record<string, string>): Generator {
  return { version: "1", settings: "medium", guideHash: (name) => guides[name] };
}

export interface TaskChanges {
  executor?: Partial<PromptExecutor>;
  workflow?: Partial<Workflow>;
  node?: Partial<TaskNode>;
  edges?: PromptTask["edges"];
  /** The context, as JSON. */
  input?: string;
  frozen?: boolean;
  fresh?: boolean;
  client?: string;
  execution?: string;
}

/** A task of the node `sum`. */
export function taskWith(changes: TaskChanges = {}): PromptTask {
  const executor: PromptExecutor = {
    kind: "prompt",
    prompt: "Add up the lines.",
    samples: true,
    allow: [],
    ...changes.executor,
  };
  const node = { id: "sum", type: "action", timeoutSeconds: 30, ...changes.node, executor } as TaskNode;
  const workflow = { format: 1, id: "bills", name: "Bills", requirements: [], lib: {}, nodes: [node], edges: [] };
  return {
    at: { execution: changes.execution ?? "exec_01", scope: "", seq: 1 },
    client: changes.client ?? "default",
    version: { workflowId: "bills", version: 1, workflow: { ...workflow, ...changes.workflow } } as WorkflowVersion,
    node,
    edges: changes.edges ?? [],
    earlierUsd: 0,
    input: membersOf(changes.input ?? '{"lines": [1, 2], "order": {"discount": 0.5}, "other": true}'),
    secrets: new Set(),
    credentials: new Set(),
    mask: (text) => text,
    frozen: changes.frozen ?? false,
    fresh: changes.fresh ?? false,
    spentUsd: 0,
  };
}

/** Code of a task, with the keys that it reads and the time at which it is stored. */
export interface WrittenCode extends Omit<ProvenCode, "guides"> {
  guides: string[];
  reads: readonly ContextRead[];
  createdAt: string;
}

export const written: WrittenCode = {
  code: 'context["total"] = sum(context["lines"])',
  reads: [
    { path: "lines", optional: false },
    { path: "order.discount", optional: true },
  ],
  guides: ["money"],
  model: "gpt-6-luna",
  cost: { usd: 0.002, tokens_input: 900, tokens_cached: 400, tokens_output: 120 },
  createdAt: "2026-11-22T10:00:00.000Z",
};
