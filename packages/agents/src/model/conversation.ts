import { createHash, randomUUID } from "node:crypto";
import type { ModelCall } from "./models.ts";
import type { Counted } from "./usage.ts";

/** A tool call as the model wrote it; `arguments` should be JSON and need not be. */
export interface RequestedCall {
  id: string;
  name: string;
  arguments: string;
}

/** One answer of the provider, whatever its API. */
export interface Reply {
  text: string;
  calls: RequestedCall[];
  refusal: string | null;
  ending: "complete" | "cut_off" | "filtered";
  /** What the provider says that it counted. */
  counted: Counted;
  /** Size of the whole answer, in bytes. */
  bytes: number;
}

/** The requests of one call and what came back, in the words of one API. Each request holds all that was said before. */
export interface Conversation<Body = unknown> {
  /** `mayCall`: whether the model may call tools now. */
  request(mayCall: boolean): Body;
  /** `timeout`: milliseconds for this request, where the client's own are too few. */
  send(body: Body, options: { signal: AbortSignal; headers: Record<string, string>; timeout?: number }): Promise<Reply>;
  /** Answers the calls of the last reply, all of them. */
  answerCalls(results: { id: string; text: string }[]): void;
  /** Makes the next request say this to the model. */
  say(text: string): void;
  /** Whether an answer may ignore its schema as long as tools may be called. */
  isHeldLater: boolean;
  /** The way out for answers that do not follow their schemas, besides another model; null where there is none. */
  wayOut: string | null;
}

/** A model call takes at most so long, retries and tools included, unless it says otherwise. */
export const callLimitMs = 90_000;

/** Enough for a long node and the thoughts before it; more would only raise what a budget has to hold ready. */
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

/** Requests with one key meet the same cache: those whose prompts begin alike, and no more (64 characters, OpenAI). */
export function cacheKey({ instructions }: { instructions: string }): string {
  return `nova-${createHash("sha256").update(instructions).digest("hex").slice(0, 32)}`;
}

/**
 * Who asks, in the provider's logs: its support finds a request by this header.
 * https://developers.openai.com/api/reference/overview
 */
export function requestId(role: string): Record<string, string> {
  return { "X-Client-Request-Id": `${role}.${randomUUID()}` };
}

/** The SDK hangs its parsers on the schemas that it makes; answers are read here, so that a bad one keeps its cost. */
export function withoutParser<F extends object>(made: F): F {
  return JSON.parse(JSON.stringify(made));
}
