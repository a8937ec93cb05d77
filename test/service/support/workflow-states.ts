import type { WorkflowState, WorkflowStates } from "@nova/service";

/** States of workflows in memory. */
export class MemoryWorkflowStates implements WorkflowStates {
  readonly kept = new Map<string, WorkflowState>();

  async get(workflowId: string): Promise<WorkflowState | undefined> {
    return this.kept.get(workflowId);
  }

  async set(workflowId: string, changes: Partial<Pick<WorkflowState, "active" | "deleted">>): Promise<void> {
    this.kept.set(workflowId, { format: 1, workflowId, ...this.kept.get(workflowId), ...changes });
  }

  async advance(workflowId: string, version: number): Promise<void> {
    if ((this.kept.get(workflowId)?.active ?? 0) < version) await this.set(workflowId, { active: version });
  }
}
