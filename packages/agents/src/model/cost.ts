import { z } from "zod";
import { catalog, priceOf } from "./catalog.ts";

const million = 1_000_000;

/**
 * Returns the cost of tokens, exact to a billionth of a dollar: (input - cached - written to the cache) x input price +
 * cached x cache price + written x write price + output x output price. Rule and prices are those of
 * https://developers.openai.com/api/docs/pricing on the catalog's date; above 272,000 input tokens the provider charges
 * more. A model that the catalog does not know costs 0.
 */
export function costOf(model: string, usage: Usage | RequestUsage): number {
  const price = priceOf(model);
  if (!price) return 0;
  const written = "cacheWrite" in usage ? usage.cacheWrite : 0;
  const plain = Math.max(0, usage.input - usage.cached - written);
  const usd =
    plain * price.input + usage.cached * price.cached + written * price.cacheWrite + usage.output * price.output;
  return roundUsd(usd / million);
}

/** Returns the cost of embedding tokens; 0 for a model that the catalog does not know. */
export function embeddingUsd(model: string, tokens: number): number {
  return roundUsd(((catalog.usdPerMillionEmbeddedTokens[model] ?? 0) * tokens) / million);
}

/** Rounds to a billionth, because binary sums of prices are not exact. */
export function roundUsd(usd: number): number {
  return Math.round(usd * 1e9) / 1e9;
}

/** Tokens. `cached` is the part of `input` from the provider's cache; `output` includes reasoning. */
export interface Usage {
  input: number;
  cached: number;
  output: number;
}

export const noUsage: Usage = { input: 0, cached: 0, output: 0 };

/** Tokens of one request; `cacheWrite` is the part of `input` that the provider wrote to its cache. */
export interface RequestUsage extends Usage {
  cacheWrite: number;
}

export function addUsage(a: Usage, b: Usage): Usage {
  return { input: a.input + b.input, cached: a.cached + b.cached, output: a.output + b.output };
}

/** Estimates the highest cost of a request: no cached input, and an answer of full length. */
export function estimateUsd(model: string, bytes: number, maxOutputTokens: number): number {
  const input = tokensIn(bytes);
  return costOf(model, { input, cached: 0, cacheWrite: input, output: maxOutputTokens });
}

export function estimateEmbeddingUsd(model: string, texts: readonly string[]): number {
  return embeddingUsd(model, tokensIn(Buffer.byteLength(texts.join("\n"))));
}

/** Texts have about four bytes per token, code and other alphabets fewer. Three is a safe estimate. */
const bytesPerToken = 3;

export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}

/**
 * The token counts of a provider, under the field names of `RequestUsage`. The values are unchecked, because a server
 * may send anything.
 */
export type Counted = Record<keyof RequestUsage, unknown>;

export interface Exchange {
  sentBytes: number;
  receivedBytes: number;
  /** True if the answer has text, a refusal or tool calls. */
  isAnswered: boolean;
  /** The request's limit of output tokens, which include hidden thoughts. */
  maxOutputTokens: number;
}

/** Tokens that a provider may add to a prompt, for its chat template and the rules of tools and schemas. */
const templateTokens = 8_192;

/**
 * Checks a request's token counts. A token has at least one byte, so a count above the number of sent or received bytes
 * is impossible. A count of zero for a prompt or an answer is impossible, too. An estimate from the bytes replaces an
 * impossible count, and `isEstimated` is set.
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
