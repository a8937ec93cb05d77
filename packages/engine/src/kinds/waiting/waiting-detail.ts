import type { JsonObject } from "@nova/workflow";
import type { Ports } from "../../ports/index.ts";
import type { WaitingTask } from "../../ports/tasks.ts";

/** The detail of the event `execution.waiting`. */
export function waitingDetail(ports: Ports, task: WaitingTask): JsonObject {
  return {
    execution_id: task.execution,
    workflow: task.workflowId,
    version: task.version,
    node: task.node,
    task_id: task.id,
    kind: task.kind,
    message: task.message,
    choices: task.choices,
    to: task.to,
    expires_at: task.expiresAt,
    link: ports.links.toTask(task),
  };
}
