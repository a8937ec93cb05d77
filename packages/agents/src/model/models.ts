import type { JsonObject, ModelRole } from "@nova/workflow";
import type { z } from "zod";
import type { Usage } from "./cost.ts";
import type { Spent } from "./model-error.ts";
import type { ReadResult } from "./read-answer.ts";

/** Something that a model may ask for before it answers. */
export interface Tool<Arguments = unknown> {
  name: string;
  description: string;
  /** An object whose keys are all there (nullable instead of optional): the provider holds the model to it. */
  parameters: z.ZodType<Arguments>;
  /** `text` is what the model reads; `found` is the summary that the step records. */
  run(args: Arguments): Promise<{ text: string; found: unknown }>;
}

/** How an answer is to look, and what of it is its value. */
export type AnswerFormat<T> =
  /** Root an object, no optional keys; the name is letters, digits, `_` and `-`, at most 64. */
  | { name: string; schema: z.ZodType<T> }
  /**
   * Of a schema that somebody else wrote the provider may hold less than we do: `read` has the last word. It never sees
   * what the model thought.
   */
  | { name: string; json: JsonObject; read(text: string): Promise<ReadResult<T>> }
  /** Any text. */
  | { read(text: string): Promise<ReadResult<T>> };

export interface ModelCall<T> {
  role: ModelRole;
  model: string;
  /** Stable first: the provider caches the prefix. */
  instructions: string;
  input: string;
  answer: AnswerFormat<T>;
  /** The caller asks again for an empty or ambiguous answer; else the call does, once. */
  isAskedOnce?: boolean;
  tools?: Tool[];
  /** At most so many tool calls are run, then the model has to answer; 5 unless it says otherwise. */
  maxToolCalls?: number;
  /** Reasoning included; 8,000 unless it says otherwise. */
  maxOutputTokens?: number;
  /** Its reason is thrown as it is. */
  signal: AbortSignal;
  /** Models that reason refuse it. */
  temperature?: number;
  /** For the whole call, retries and tools included; `longestMs` at most and unless it says otherwise. */
  timeoutMs?: number;
  /** 90,000 unless it says otherwise; then one request may take all of it. */
  longestMs?: number;
  /**
   * Called before every request to the provider with the most that it should cost and with what the call has spent so
   * far; what it throws ends the call as it is.
   */
  beforeRequest?(estimatedUsd: number, spentUsd: number, spent: Usage): void;
}

export type ModelAnswer<T> = Spent & { value: T };

export interface EmbeddingCall {
  texts: string[];
  signal: AbortSignal;
  /** As of a `ModelCall`; nothing of it is spent yet. */
  beforeRequest?(estimatedUsd: number): Promise<void>;
}

export interface Embedded {
  /** A vector per text, in their order. */
  vectors: number[][];
  model: string;
  usage: Usage;
  /** 0 for a model without a price. */
  costUsd: number;
}

export interface Models {
  /** @throws {ModelError} with its reason, what it spent and what was answered. */
  ask<T>(call: ModelCall<T>): Promise<ModelAnswer<T>>;
  /** Null where no embedding model is set. @throws {ModelError} */
  embed(call: EmbeddingCall): Promise<Embedded> | null;
}
