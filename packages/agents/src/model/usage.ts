import { z } from "zod";
import { type RequestUsage, tokensIn } from "./cost.ts";

/** Tokens as a provider counted them, under the names of `cost.ts`. A server may write anything there. */
export type Counted = Record<keyof RequestUsage, unknown>;

export interface Exchange {
  sentBytes: number;
  receivedBytes: number;
  /** Whether the answer says anything, in words or calls. */
  isAnswered: boolean;
  /** The limit that the request set. Hidden thoughts count too, so the visible answer alone is no bound. */
  maxOutputTokens: number;
}

/** A provider may put so much around a prompt: a chat template, the rules of its tools and schemas. */
const templateTokens = 8_192;

/**
 * Reads what a request has used. A token has at least one byte, so a count above the bytes that were sent or received
 * cannot be true. A prompt or an answer of no tokens cannot be true either. Such a count is estimated from the bytes, and
 * `isEstimated` says so.
 */
export function readUsage(counted: Counted, exchanged: Exchange): RequestUsage & { isEstimated: boolean } {
  const { sentBytes, receivedBytes, isAnswered, maxOutputTokens } = exchanged;
  const input = countIn(counted.input, 1, sentBytes + templateTokens);
  const output = countIn(counted.output, isAnswered ? 1 : 0, Math.max(maxOutputTokens, receivedBytes));
  const known = input ?? tokensIn(sentBytes);
  const cached = countIn(counted.cached ?? 0, 0, known);
  const cacheWrite = countIn(counted.cacheWrite ?? 0, 0, known - (cached ?? 0));
  return {
    input: known,
    cached: cached ?? 0,
    cacheWrite: cacheWrite ?? 0,
    output: output ?? Math.min(tokensIn(receivedBytes), maxOutputTokens),
    isEstimated: [input, output, cached, cacheWrite].includes(null),
  };
}

function countIn(value: unknown, least: number, most: number): number | null {
  const { data = null } = z.int().min(least).max(most).safeParse(value);
  return data;
}
