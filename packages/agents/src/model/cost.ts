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
