import { createHash, randomUUID } from "node:crypto";
import type { Exchange, RequestedCall } from "@nova/engine";
import type { JsonObject, ModelRole } from "@nova/workflow";
import type { z } from "zod";
import type { Counted, Usage } from "./cost.ts";
import type { Spent } from "./model-error.ts";
import type { ReadResult } from "./read-answer.ts";

/** A tool that a model may call before it answers. */
export interface Tool<Arguments = unknown> {
  name: string;
  description: string;
  /** An object with only required keys (nullable instead of optional), so that the provider can enforce it. */
  parameters: z.ZodType<Arguments>;
  /** The model reads `text`; the step records `found`. */
  run(args: Arguments): Promise<{ text: string; found: unknown }>;
}

/**
 * A tool of an agent. The model call returns the calls of this tool to its caller. `schema` is the JSON schema of the
 * arguments.
 */
export interface AgentTool {
  name: string;
  description: string;
  schema: JsonObject;
}

/** The form of an answer, and how to read its value. */
export type AnswerFormat<T> =
  | ReadFormat<T>
  /** `whole` returns the value for the whole reply, which includes the requested tool calls. */
  | { whole(reply: Reply): T; name?: string; json?: JsonObject }
  /** The schema is an object without optional keys. The name has at most 64 letters, digits, `_` and `-`. */
  | { name: string; schema: z.ZodType<T> };

/** An answer that the caller reads. */
export type ReadFormat<T = string> =
  /**
   * A JSON schema that a user wrote. The provider may enforce only a part of the schema, so `read` checks the answer.
   * It gets the answer without the model's thoughts.
   */
  | { name: string; json: JsonObject; read(text: string): Promise<ReadResult<T>> }
  | { read(text: string): Promise<ReadResult<T>> };

export interface ModelCall<T> {
  role: ModelRole;
  model: string;
  /** Put stable text first, because the provider caches the prefix. */
  instructions: string;
  input: string;
  answer: AnswerFormat<T>;
  /** True if the caller asks again after an empty or ambiguous answer. Otherwise the call itself asks once more. */
  isAskedOnce?: boolean;
  tools?: Tool[];
  /** Tools whose calls the model call returns to its caller. The caller runs these tools. */
  agentTools?: readonly AgentTool[];
  /** The earlier replies of the model, each with what the model got back. */
  exchanges?: readonly Exchange[];
  /** Limit of tool calls, after which the model must answer. Default 5. */
  maxToolCalls?: number;
  /** Limit of output tokens, including reasoning. Default 8,000. */
  maxOutputTokens?: number;
  /** If this signal aborts, the call throws its reason unchanged. */
  signal: AbortSignal;
  /** Leave it out for reasoning models, which refuse a temperature. */
  temperature?: number;
  /** Time limit of the whole call, including retries and tools. Default and maximum: `longestMs`. */
  timeoutMs?: number;
  /** Limit of `timeoutMs`, by default 90,000. If it is set, a single request may take the whole time of the call. */
  longestMs?: number;
  /**
   * Called before every request with its highest estimated cost and with the costs and usage of the call so far. An
   * error that it throws ends the call unchanged.
   */
  beforeRequest?(estimatedUsd: number, spentUsd: number, spent: Usage): void;
}

export type ModelAnswer<T> = Spent & { value: T };

export interface EmbeddingCall {
  texts: string[];
  signal: AbortSignal;
  /** Called before the request with its highest estimated cost. An error that it throws ends the call unchanged. */
  beforeRequest?(estimatedUsd: number): Promise<void>;
}

export interface Embedded {
  vectors: number[][];
  model: string;
  usage: Usage;
  /** Cost in dollars; 0 for a model without a price. */
  costUsd: number;
}

export interface Models {
  /** Asks a model. @throws {ModelError} with a reason, the costs of the call and the last answer. */
  ask<T>(call: ModelCall<T>): Promise<ModelAnswer<T>>;
  /** Embeds texts. Returns null if no embedding model is set. @throws {ModelError} */
  embed(call: EmbeddingCall): Promise<Embedded> | null;
}

/** One answer of the provider, independent of its API. */
export interface Reply {
  text: string;
  calls: RequestedCall[];
  refusal: string | null;
  ending: "complete" | "cut_off" | "filtered";
  /** The answer as the provider wrote it. Present if the next request must send it back unchanged. */
  items?: readonly unknown[];
  /** The provider's token counts, unchecked. */
  counted: Counted;
  bytes: number;
}

/** The requests and answers of one call, over one API. Each request contains the whole conversation. */
export interface Conversation<Body = unknown> {
  /** Builds the next request. `mayCall` is true if the model may call tools in this request. */
  request(mayCall: boolean): Body;
  /** Sends a request. `timeout`, in milliseconds, replaces the client's own. */
  send(body: Body, options: { signal: AbortSignal; headers: Record<string, string>; timeout?: number }): Promise<Reply>;
  answerCalls(results: { id: string; text: string }[]): void;
  say(text: string): void;
  /** True if the server enforces the schema only in requests without tool calls. */
  isHeldLater: boolean;
  /** Further advice for the user if answers violate their schema; null if the only advice is to name another model. */
  wayOut: string | null;
}

/** Default time limit of a model call, including retries and tools. */
export const callLimitMs = 90_000;

/**
 * The default is enough for long code and the thoughts before the code. A higher limit would only raise cost estimates.
 */
const defaultOutputTokens = 8_000;

export function outputTokens({ maxOutputTokens }: Pick<ModelCall<unknown>, "maxOutputTokens">): number {
  return maxOutputTokens ?? defaultOutputTokens;
}

export function timeLimitMs({
  timeoutMs,
  longestMs = callLimitMs,
}: Pick<ModelCall<unknown>, "timeoutMs" | "longestMs">): number {
  return Math.min(timeoutMs ?? longestMs, longestMs);
}

/** Returns the key for OpenAI's prompt cache, at most 64 characters: one key per prefix of instructions. */
export function cacheKey({ instructions }: { instructions: string }): string {
  return `nova-${createHash("sha256").update(instructions).digest("hex").slice(0, 32)}`;
}

/**
 * Builds a header by which the provider's support finds a request. https://developers.openai.com/api/reference/overview
 */
export function requestId(role: string): Record<string, string> {
  return { "X-Client-Request-Id": `${role}.${randomUUID()}` };
}

/** Removes the SDK's parser from a schema. NOVA parses answers itself, so that an invalid answer keeps its cost. */
export function withoutParser<F extends object>(made: F): F {
  return JSON.parse(JSON.stringify(made));
}
