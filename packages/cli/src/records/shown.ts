import type { ChainEntry, Execution as ExecutionItem, NovaClient, Task, WholeExecution } from "@nova/client";
import type { AtWork, Execution, RawJson, Trace, TraceEntry, WaitingTask } from "@nova/engine";

/** What commands show of an execution. */
export type ShownExecution = Omit<Execution, "stateMachineArn" | "root"> & Partial<Pick<Execution, "root">>;

export type ShownTrace = Omit<Trace, "execution"> & { execution: ShownExecution };

/** What commands show of a task. */
export type ShownTask = Pick<
  WaitingTask,
  "id" | "execution" | "workflowId" | "node" | "kind" | "message" | "choices" | "to" | "createdAt" | "expiresAt"
>;

const over = new Set(["completed", "failed", "cancelled", "interrupted"]);

export function executionFrom(item: ExecutionItem): ShownExecution {
  const { execution_id, workflow, version, client, status, started_at, parent } = item;
  return {
    ...{ format: 1, id: execution_id, workflowId: workflow, version, client, status, startedAt: started_at },
    ...(item.ended_at !== null && { endedAt: item.ended_at }),
    ...(item.duration_ms !== null && { durationMs: item.duration_ms }),
    ...(item.error && { error: item.error as NonNullable<Execution["error"]> }),
    ...(item.nodes !== null && { nodes: item.nodes }),
    ...(item.spent && { spent: item.spent }),
    ...(parent && { parent: { execution: parent.execution_id, scope: parent.scope, seq: parent.seq, depth: 1 } }),
    open: !over.has(status),
  };
}

export function taskFrom({ task_id, execution_id, workflow, created_at, expires_at, ...task }: Task): ShownTask {
  const { node, message, choices, to } = task;
  return {
    ...{ id: task_id, execution: execution_id, workflowId: workflow, kind: "approval" },
    ...{ node, message, choices, to, createdAt: created_at, expiresAt: expires_at },
  };
}

/** An execution as the server has it, with large values as references. */
export async function readWhole(server: NovaClient, id: string): Promise<Omit<ShownTrace, "entries">> {
  const params = { path: { id }, query: { references: "true" as const } };
  const whole: WholeExecution = await server.ask(server.api.GET("/executions/{id}", { params }));
  return {
    execution: executionFrom(whole),
    path: whole.path,
    context: whole.context as unknown as RawJson,
    // Servers of earlier releases do not say it.
    atWork: (whole.at_work as unknown as AtWork | undefined) ?? { count: 0, nodes: [], maps: [] },
  };
}

export async function readServersTrace(server: NovaClient, id: string, { full = false } = {}): Promise<ShownTrace> {
  const [whole, entries] = await Promise.all([
    readWhole(server, id),
    Array.fromAsync(server.executions.chain(id, { full })),
  ]);
  return { ...whole, entries: entries.map(entryFrom) };
}

/** The API's entries are the engine's, written down. */
export function entryFrom(entry: ChainEntry): TraceEntry {
  return entry as unknown as TraceEntry;
}
