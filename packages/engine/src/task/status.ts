import type { Ports } from "../ports/index.ts";

/**
 * Makes the record say `waiting` while a task of the execution is open, and `running` otherwise. Whoever changes a task
 * calls it afterwards and looks again after each change of the status, so the last one to look leaves the truth.
 */
export async function refreshStatus(ports: Pick<Ports, "tasks" | "executions">, execution: string): Promise<void> {
  for (;;) {
    const isWaiting = await ports.tasks.hasOpen(execution);
    const [status, other] = isWaiting ? (["waiting", "running"] as const) : (["running", "waiting"] as const);
    if (!(await ports.executions.setStatus(execution, status, [other]))) return;
  }
}
