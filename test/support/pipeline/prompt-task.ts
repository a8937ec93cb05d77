import type { PromptTask } from "@nova/engine";
import type { PromptExecutor, TaskNode, Workflow } from "@nova/workflow";

export interface TaskOptions {
  prompt?: string;
  context?: Record<string, unknown>;
  /** Further keys of the context, each with its value as JSON text. */
  slots?: Record<string, string>;
  type?: "action" | "decision";
  conditions?: (string | boolean | number)[];
  executor?: Partial<PromptExecutor>;
  node?: Partial<Pick<TaskNode, "timeoutSeconds" | "effects">>;
  workflow?: Partial<Workflow>;
  secrets?: Record<string, string>;
  credentials?: Record<string, string | number>;
  frozen?: boolean;
  fresh?: boolean;
  spentUsd?: number;
}

/** Builds a prompt task as the engine passes it to a pipeline. */
export function promptTask(options: TaskOptions = {}): PromptTask {
  const {
    secrets = {},
    credentials = {},
    type = "action",
    conditions = [true, false],
    context = { total: 1500 },
  } = options;
  const executor: PromptExecutor = {
    kind: "prompt",
    prompt: options.prompt ?? "Calculate discount (10% if total > 1000)",
    samples: true,
    allow: [],
    ...options.executor,
  };
  const node = { id: "work", type, executor, timeoutSeconds: 30, ...options.node } as TaskNode;
  const edges = conditions.map((condition, index) => ({ from: "work", to: `next${index}`, condition }));
  const workflow = { format: 1, id: "wf", name: "Wf", requirements: [], lib: {}, nodes: [node], edges: [] } as Workflow;
  const values = Object.entries({ ...context, ...secrets, ...credentials }).map(([key, value]) => ({
    key,
    json: JSON.stringify(value),
  }));
  const slots = Object.entries(options.slots ?? {}).map(([key, json]) => ({ key, json }));
  return {
    at: { execution: "exec_1", scope: "", seq: 3 },
    client: "acme",
    version: { workflowId: "wf", version: 1, workflow: { ...workflow, ...options.workflow } } as PromptTask["version"],
    node,
    edges: type === "decision" ? edges : [{ from: "work", to: "end" }],
    input: [...values, ...slots],
    secrets: new Set(Object.keys(secrets)),
    credentials: new Set(Object.keys(credentials)),
    mask: (text) => Object.values(secrets).reduce((masked, secret) => masked.replaceAll(secret, "***"), text),
    frozen: options.frozen ?? false,
    fresh: options.fresh ?? false,
    earlierUsd: 0,
    spentUsd: options.spentUsd ?? 0,
  };
}
