import { z } from "zod";

const texts = z.record(z.string(), z.string());

/** Everything that the code depends on: the values, or their SHA-256 where they are long. */
export const Ingredients = z.strictObject({
  prompt: z.string(),
  node_type: z.string(),
  /** Conditions of the edges that leave a decision, in order. */
  edges: z.array(z.string()),
  /** Dot path of every key that the code reads -> its type; `?` behind the path where it may be absent. */
  reads: texts,
  generator: z.string(),
  /** Name of every guide in the prompt -> SHA-256 of its text. */
  guides: texts,
  model: z.string(),
  settings: z.string(),
  template: z.string(),
  requirements: z.array(z.string()),
  /** Path below `lib/` -> SHA-256. */
  lib: texts,
});
export type Ingredients = z.infer<typeof Ingredients>;

/**
 * Code that a model wrote for a prompt node, kept beside the workflow: part of the definition, because it decides what
 * runs.
 */
export interface LockedCode {
  /** SHA-256 of the ingredients: what the code was written for. */
  key: string;
  ingredients: Ingredients;
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
