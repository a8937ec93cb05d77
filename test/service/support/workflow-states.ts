import type { Standing, WorkflowState, WorkflowStates } from "@nova/service";

/** States of workflows in memory. */
export class MemoryWorkflowStates implements WorkflowStates {
  readonly kept = new Map<string, WorkflowState>();

  async get(workflowId: string): Promise<WorkflowState | undefined> {
    return this.kept.get(workflowId);
  }

  async set(workflowId: string, changes: Partial<Pick<WorkflowState, "active" | "deleted">>): Promise<void> {
    this.kept.set(workflowId, { format: 1, workflowId, ...this.kept.get(workflowId), ...changes });
  }

  async move(workflowId: string, from: Standing, to: Partial<WorkflowState>): Promise<boolean> {
    const { active, deleted, touched = [] } = this.kept.get(workflowId) ?? {};
    const isUnchanged = active === from.active && deleted === from.deleted && `${touched}` === `${from.touched ?? []}`;
    if (isUnchanged) await this.#change(workflowId, to);
    return isUnchanged;
  }

  async hasLeft(workflowId: string): Promise<void> {
    const { leaving: _, ...rest } = this.kept.get(workflowId) as WorkflowState;
    this.kept.set(workflowId, rest);
  }

  async *unsettled() {
    for (const { workflowId, touched } of this.kept.values()) if (touched) yield { workflowId, touched };
  }

  async #change(workflowId: string, changes: Partial<WorkflowState>): Promise<void> {
    const { touched, ...rest } = { format: 1 as const, workflowId, ...this.kept.get(workflowId), ...changes };
    this.kept.set(workflowId, { ...rest, ...(touched && touched.length > 0 && { touched }) });
  }
}
