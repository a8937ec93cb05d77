import { createHash, randomUUID } from "node:crypto";
import type { ModelCall } from "./models.ts";
import type { Counted } from "./usage.ts";

/** A tool call as the model wrote it. `arguments` should be JSON but may be anything. */
export interface RequestedCall {
  id: string;
  name: string;
  arguments: string;
}

/** One answer of the provider, independent of its API. */
export interface Reply {
  text: string;
  calls: RequestedCall[];
  refusal: string | null;
  ending: "complete" | "cut_off" | "filtered";
  /** The provider's token counts, unchecked. */
  counted: Counted;
  /** Size of the whole answer. */
  bytes: number;
}

/** The requests and answers of one call, over one API. Each request contains the whole conversation. */
export interface Conversation<Body = unknown> {
  /** Builds the next request. `mayCall`: the model may call tools now. */
  request(mayCall: boolean): Body;
  /** Sends a request. `timeout`, in milliseconds, replaces the client's own. */
  send(body: Body, options: { signal: AbortSignal; headers: Record<string, string>; timeout?: number }): Promise<Reply>;
  /** Answers all calls of the last reply. */
  answerCalls(results: { id: string; text: string }[]): void;
  /** Adds a message to the next request. */
  say(text: string): void;
  /** True if the server enforces the schema only in requests without tool calls. */
  isHeldLater: boolean;
  /** Advice for answers that violate their schema, in addition to another model; null if there is none. */
  wayOut: string | null;
}

/** Default time limit of a model call, including retries and tools. */
export const callLimitMs = 90_000;

/** Enough for long code and the thoughts before it. A higher limit would only raise cost estimates. */
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

/** The key of OpenAI's prompt cache, at most 64 characters: one key per prefix of instructions. */
export function cacheKey({ instructions }: { instructions: string }): string {
  return `nova-${createHash("sha256").update(instructions).digest("hex").slice(0, 32)}`;
}

/**
 * A header with which the provider's support can find a request.
 * https://developers.openai.com/api/reference/overview
 */
export function requestId(role: string): Record<string, string> {
  return { "X-Client-Request-Id": `${role}.${randomUUID()}` };
}

/** Removes the SDK's parser from a schema. NOVA parses answers itself, so that an invalid answer keeps its cost. */
export function withoutParser<F extends object>(made: F): F {
  return JSON.parse(JSON.stringify(made));
}
