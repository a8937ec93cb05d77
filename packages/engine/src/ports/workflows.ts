import type { HistoryBudget, LockedCode, Workflow } from "@nova/workflow";

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
  /** It is a draft, which this client runs while it is built, and no workflow that others can run. */
  draftOf?: string;
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

/** Code that a model wrote for a node, as kept (format 1): what a lock holds of it, and what became of it since. */
export interface Generation extends LockedCode {
  format: 1;
  workflowId: string;
  node: string;
  /** Null: for every client of the workflow. */
  client: string | null;
  /** `candidate`: not yet proven by a run; `pinned`: it runs; `replaced`: kept for its history. */
  status: "candidate" | "pinned" | "replaced";
  /** Of the prompt, rounded; absent where no embedding model was set. Finds it for tasks like this one. */
  embedding?: number[];
}

/** Generated code (DynamoDB). */
export interface GenerationStore {
  /** In any order; replaced ones included. */
  of(workflowId: string, node: string, client: string | null): Promise<Generation[]>;
  ofWorkflow(workflowId: string): Promise<Generation[]>;
  /** False when this key and code are there already. */
  create(generation: Generation): Promise<boolean>;
  /** Changes what may change: status, proof, approval. */
  update(
    generation: Pick<Generation, "workflowId" | "node" | "client" | "key" | "codeHash">,
    changes: Partial<Pick<Generation, "status" | "provenBy" | "approved">>,
  ): Promise<void>;
}
