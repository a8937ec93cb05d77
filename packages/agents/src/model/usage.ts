import { z } from "zod";
import { type RequestUsage, tokensIn } from "./cost.ts";

/** A provider's token counts under the names of `cost.ts`. Servers may send anything. */
export type Counted = Record<keyof RequestUsage, unknown>;

export interface Exchange {
  sentBytes: number;
  receivedBytes: number;
  /** True if the answer has text, a refusal or tool calls. */
  isAnswered: boolean;
  /** The request's limit, which also covers hidden thoughts. */
  maxOutputTokens: number;
}

/** Tokens that a provider may add to a prompt, for its chat template and the rules of tools and schemas. */
const templateTokens = 8_192;

/**
 * Checks a request's token counts. A token has at least one byte, so a count above the number of sent or received bytes
 * is impossible. So is a count of zero for a prompt or an answer. An impossible count is replaced by an estimate from
 * the bytes, and `isEstimated` is set.
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
