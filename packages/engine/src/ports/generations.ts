import type { LockedCode } from "@nova/workflow";

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
  /** Newest first; replaced ones included. */
  of(workflowId: string, node: string, client: string | null): Promise<Generation[]>;
  /** All of a workflow. */
  ofWorkflow(workflowId: string): Promise<Generation[]>;
  /** False when this key and code are there already. */
  create(generation: Generation): Promise<boolean>;
  /** Changes what may change: status, proof, approval. */
  update(
    generation: Pick<Generation, "workflowId" | "node" | "client" | "key" | "codeHash">,
    changes: Partial<Pick<Generation, "status" | "provenBy" | "approved">>,
  ): Promise<void>;
}
