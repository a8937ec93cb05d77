import type { NovaClient } from "@nova/client";
import type { ExecutionQuery } from "@nova/engine";
import { executionFrom, type ShownExecution, type ShownTask, taskFrom } from "../records/shown.ts";

type Query = Pick<ExecutionQuery, "workflow" | "client" | "status">;

/** The API's most items on a page. */
const pageLimit = 200;

/** Newest first, at most so many. */
export async function listExecutions(server: NovaClient, query: Query, most: number): Promise<ShownExecution[]> {
  const found: ShownExecution[] = [];
  for await (const item of server.executions.list({ ...query, limit: Math.min(most, pageLimit) })) {
    found.push(executionFrom(item));
    if (found.length === most) break;
  }
  return found;
}

/** Oldest first. */
export async function listTasks(server: NovaClient): Promise<ShownTask[]> {
  return (await Array.fromAsync(server.tasks.list())).map(taskFrom);
}
