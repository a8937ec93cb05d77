/**
 * Code that a model wrote for a prompt node, kept beside the workflow: part of the definition, because it decides what
 * runs.
 */
export interface LockedCode {
  /** SHA-256 of the ingredients: what the code was written for. */
  key: string;
  ingredients: LockedIngredients;
  code: string;
  /** SHA-256 of `code`; with `analysis`, that of both (`codeHashOf`). */
  codeHash: string;
  /** Looks at the data first: `code` reads what it finds. Absent where it needs none. */
  analysis?: string;
  /** SHA-256 of `analysis`. */
  analysisHash?: string;
  /** `edited`: a person has changed it. */
  origin: "generated" | "edited";
  /** The model that wrote it. */
  model: string;
  /** What writing it has cost. */
  cost: { usd: number; tokens_input: number; tokens_cached: number; tokens_output: number };
  /** ISO 8601. */
  createdAt: string;
  /** An execution in which it did its work. */
  provenBy?: string;
  approved?: { by: string; at: string };
}

/** Everything that the code depends on, each as text or as its SHA-256. */
export interface LockedIngredients {
  prompt: string;
  node_type: string;
  edges: string[];
  /** Dot path of every key that the code reads -> its type; `?` behind the path where it may be absent. */
  reads: Record<string, string>;
  generator: string;
  guides: Record<string, string>;
  model: string;
  settings: string;
  template: string;
  requirements: string[];
  lib: Record<string, string>;
}
