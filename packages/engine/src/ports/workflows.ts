import type { HistoryBudget, LockedCode, Workflow } from "@nova/workflow";

/** A published version. Only the state of its publication may change. */
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
  /** Set if its loops may continue in further executions: how a run counts the events of its history. */
  history?: HistoryBudget;
  /** Set for a draft: the client that may run it. Other clients cannot run it. */
  draftOf?: string;
  createdAt: string;
}

export interface WorkflowStore {
  get(workflowId: string, version: number): Promise<WorkflowVersion | undefined>;
  /** The version as it is stored now, ignoring versions in memory, for verification. */
  stored(workflowId: string, version: number): Promise<WorkflowVersion | undefined>;
  latest(workflowId: string): Promise<WorkflowVersion | undefined>;
  /** Returns false if this version number exists. */
  create(version: WorkflowVersion): Promise<boolean>;
  /** Ids of all workflows with a version that come after `after`, in order, without reading definitions. */
  ids(after?: string): AsyncIterable<string>;
  /**
   * Every version of every workflow, with its definition. It needs hundreds of reads, so use it only in background
   * work.
   */
  everyVersion(): AsyncIterable<WorkflowVersion>;
}

/** Stored code that a model wrote for a node (format 1): the fields of a lock, and its status since. */
export interface Generation extends LockedCode {
  format: 1;
  workflowId: string;
  node: string;
  /** Null if it serves every client of the workflow. */
  client: string | null;
  /** `candidate`: not yet proven by a run; `pinned`: it runs; `replaced`: kept for its history. */
  status: "candidate" | "pinned" | "replaced";
  /** Embedding of the prompt, rounded, to find it for similar tasks. Absent if no embedding model was configured. */
  embedding?: number[];
}

/** Generated code (DynamoDB). */
export interface GenerationStore {
  /** In any order, including replaced ones. */
  of(workflowId: string, node: string, client: string | null): Promise<Generation[]>;
  ofWorkflow(workflowId: string): Promise<Generation[]>;
  /** Returns false if this key and code exist. */
  create(generation: Generation): Promise<boolean>;
  /** Changes the mutable fields: status, proof, approval. */
  update(
    generation: Pick<Generation, "workflowId" | "node" | "client" | "key" | "codeHash">,
    changes: Partial<Pick<Generation, "status" | "provenBy" | "approved">>,
  ): Promise<void>;
}
