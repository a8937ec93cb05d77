/** Everything that a generation's code depends on: the values, or their SHA-256 where they are long. */
export interface Ingredients {
  prompt: string;
  node_type: string;
  /** Conditions of the edges that leave a decision, in order. */
  edges: string[];
  /** Dot path of every key that the code reads -> its type; `?` behind the path where it may be absent. */
  reads: Record<string, string>;
  generator: string;
  /** Name of every guide in the prompt -> SHA-256 of its text. */
  guides: Record<string, string>;
  model: string;
  settings: string;
  template: string;
  requirements: string[];
  /** Path below `lib/` -> SHA-256. */
  lib: Record<string, string>;
}

/** Code that a model wrote for a node, as kept (format 1). Its key is the SHA-256 of its ingredients. */
export interface Generation {
  format: 1;
  workflowId: string;
  node: string;
  /** Null: for every client of the workflow. */
  client: string | null;
  key: string;
  ingredients: Ingredients;
  /** SHA-256 of `code`; with `analysis`, that of both (`codeHashOf`). */
  codeHash: string;
  code: string;
  /** Looks at the data first: `code` reads what it finds. Absent where it needs none. */
  analysis?: string;
  /** SHA-256 of `analysis`. */
  analysisHash?: string;
  /** `candidate`: not yet proven by a run; `pinned`: it runs; `replaced`: kept for its history. */
  status: "candidate" | "pinned" | "replaced";
  /** What a person changed is `edited`. */
  origin: "generated" | "edited";
  model: string;
  cost: { usd: number; tokens_input: number; tokens_cached: number; tokens_output: number };
  /** ISO 8601. */
  createdAt: string;
  /** The execution that proved it. */
  provenBy?: string;
  approved?: { by: string; at: string };
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
