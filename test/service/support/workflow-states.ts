import type { WorkflowState, WorkflowStates } from "@nova/service";

type Standing = Pick<WorkflowState, "active" | "deleted">;

/** States of workflows in memory. */
export class MemoryWorkflowStates implements WorkflowStates {
  readonly kept = new Map<string, WorkflowState>();

  async get(workflowId: string): Promise<WorkflowState | undefined> {
    return this.kept.get(workflowId);
  }

  async set(workflowId: string, changes: Partial<Pick<WorkflowState, "active" | "deleted">>): Promise<void> {
    this.kept.set(workflowId, { format: 1, workflowId, ...this.kept.get(workflowId), ...changes });
  }

  async move(workflowId: string, from: Standing, to: Standing): Promise<boolean> {
    const { active, deleted } = this.kept.get(workflowId) ?? {};
    const isUnchanged = active === from.active && deleted === from.deleted;
    if (isUnchanged) await this.set(workflowId, to);
    return isUnchanged;
  }
}
