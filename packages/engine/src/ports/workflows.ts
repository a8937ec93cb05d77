import type { HistoryBudget, Workflow } from "@nova/workflow";

/** A published version, immutable but for the state of its publication. */
export interface WorkflowVersion {
  format: 1;
  workflowId: string;
  version: number;
  /** SHA-256 of the normalised definition's text. */
  hash: string;
  workflow: Workflow;
  /** Sandbox template that has the requirements. */
  template: string;
  /** ARN of the state machine version; runs start on it. */
  stateMachineArn: string;
  /** Where its loops go on in further executions: by what a run counts how full a history is. */
  history?: HistoryBudget;
  createdAt: string;
}

export interface WorkflowStore {
  get(workflowId: string, version: number): Promise<WorkflowVersion | undefined>;
  /** As it is stored at this moment, whatever this process has read of it before: for whoever trusts nothing. */
  stored(workflowId: string, version: number): Promise<WorkflowVersion | undefined>;
  latest(workflowId: string): Promise<WorkflowVersion | undefined>;
  /** False when this version number is taken. */
  create(version: WorkflowVersion): Promise<boolean>;
  /** Of all workflows that have a version, those behind `after`; in order, without reading any definition. */
  ids(after?: string): AsyncIterable<string>;
  /** Every version of every workflow, with its definition: hundreds of reads, so for work that nobody waits for. */
  everyVersion(): AsyncIterable<WorkflowVersion>;
}
