import type {
  AuditRecord,
  HandOver,
  Pauses,
  UnsettledWorkflow,
  VersionPointers,
  WorkflowState,
  WorkflowStates,
} from "@nova/service";

/** States of workflows in memory. */
export class MemoryWorkflowStates implements WorkflowStates {
  readonly kept = new Map<string, WorkflowState>();

  async get(workflowId: string): Promise<WorkflowState | undefined> {
    return this.kept.get(workflowId);
  }

  async set(workflowId: string, changes: Partial<Pick<WorkflowState, "active" | "deleted">>): Promise<void> {
    this.kept.set(workflowId, { format: 1, workflowId, ...this.kept.get(workflowId), ...changes });
  }

  async move(workflowId: string, from: VersionPointers, to: Partial<WorkflowState>): Promise<boolean> {
    const { active, deleted, touched = [] } = this.kept.get(workflowId) ?? {};
    const isUnchanged = active === from.active && deleted === from.deleted && `${touched}` === `${from.touched ?? []}`;
    if (isUnchanged) await this.#change(workflowId, to);
    return isUnchanged;
  }

  async pause(workflowId: string, from: Pauses, to: Pauses): Promise<boolean> {
    const { paused, ...rest } = { format: 1 as const, workflowId, ...this.kept.get(workflowId) };
    const isUnchanged = JSON.stringify(paused ?? {}) === JSON.stringify(from);
    if (isUnchanged) this.kept.set(workflowId, { ...rest, ...(Object.keys(to).length > 0 && { paused: to }) });
    return isUnchanged;
  }

  async endDeletion(workflowId: string, deed: AuditRecord): Promise<void> {
    const { leaving, ...rest } = this.kept.get(workflowId) as WorkflowState;
    if (leaving?.id === deed.id) this.kept.set(workflowId, rest);
  }

  async *unsettled(): AsyncIterable<UnsettledWorkflow> {
    for (const { workflowId, touched, handedOver } of this.kept.values())
      if (touched) yield { workflowId, touched, ...(handedOver && { handedOver }) };
  }

  async recordHandOver(workflowId: string, handedOver: HandOver): Promise<void> {
    const state = this.kept.get(workflowId);
    if (state?.touched) this.kept.set(workflowId, { ...state, handedOver });
  }

  async #change(workflowId: string, changes: Partial<WorkflowState>): Promise<void> {
    const { touched, handedOver, ...rest } = {
      format: 1 as const,
      workflowId,
      ...this.kept.get(workflowId),
      ...changes,
    };
    this.kept.set(workflowId, { ...rest, ...(touched?.length && { touched, ...(handedOver && { handedOver }) }) });
  }
}
