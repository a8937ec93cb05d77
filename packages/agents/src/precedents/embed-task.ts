import { ModelError } from "../model/model-error.ts";
import type { EmbeddingCall, Models } from "../model/models.ts";

/** A task's embedding, and what it has cost. */
export interface EmbeddedTask {
  /** Null where there is none, for the reason that `error` says. */
  embedding: number[] | null;
  model?: string;
  tokens: number;
  usd: number;
  error?: string;
}

/** Embedding models read some 8,000 tokens. */
const longestTask = 8_000;

/**
 * The embedding of a task's text, short enough to lie beside its code; null where no embedding model is set. Examples are
 * a help, not a need: a server that cannot embed must not keep a node from being written. Only a refusal of
 * `beforeRequest` is thrown.
 */
export async function embedTask(
  prompt: string,
  embed: Models["embed"],
  call: Omit<EmbeddingCall, "texts">,
): Promise<EmbeddedTask | null> {
  try {
    const answer = await embed({ ...call, texts: [prompt.slice(0, longestTask)] });
    if (!answer) return null;
    const { vectors, model, usage, costUsd } = answer;
    return { embedding: vectors[0]?.map(rounded) ?? null, model, tokens: usage.input, usd: costUsd };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { embedding: null, tokens: error.usage.input, usd: error.costUsd, error: error.message };
  }
}

/** Four digits keep the order of cosines and make 1,536 numbers 10 KB. */
function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

/** What is remembered of tasks like this one, and what it has cost to look for it. */
export interface Recall {
  examples?: { task: string; code: string }[];
  /** Of the task. */
  embedding?: number[];
  spent: { tokens: number; usd: number };
  /** For the step that pays for it. */
  record: Record<string, unknown>;
}
