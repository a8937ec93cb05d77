import type { WorkflowQuotas } from "./quotas.ts";

/** What changes about a workflow while its versions do not. */
export interface WorkflowState {
  format: 1;
  workflowId: string;
  /** The version that new runs use; absent: the latest. */
  active?: number;
  /** Versions up to this one were deleted; their executions stay readable. */
  deleted?: number;
  quotas?: WorkflowQuotas;
}

type Standing = Pick<WorkflowState, "active" | "deleted">;

export interface WorkflowStates {
  get(workflowId: string): Promise<WorkflowState | undefined>;
  set(workflowId: string, changes: Partial<Pick<WorkflowState, "active" | "deleted" | "quotas">>): Promise<void>;
  /** Changes what is active or deleted; false, and nothing changes, where that is not as in `from` any more. */
  move(workflowId: string, from: Standing, to: Standing): Promise<boolean>;
}
