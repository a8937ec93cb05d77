import { catalog, priceOf } from "./catalog.ts";

const million = 1_000_000;

/**
 * What tokens cost, exact to a billionth of a dollar: (input - cached - written to the cache) x input + cached x cached
 * + written x write + output x output. Rule and prices: https://developers.openai.com/api/docs/pricing, as of the
 * catalog's date; above 272,000 tokens of input the provider charges more than this says. A model that the catalog does
 * not know costs 0.
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

/** What embedding so many tokens costs; 0 for a model that the catalog does not know. */
export function embeddingUsd(model: string, tokens: number): number {
  return roundUsd(((catalog.usdPerMillionEmbeddedTokens[model] ?? 0) * tokens) / million);
}

/** Sums of prices are not exact in binary; a record should not show it. */
export function roundUsd(usd: number): number {
  return Math.round(usd * 1e9) / 1e9;
}

/** Tokens; `cached` is the part of `input` that the provider had kept, and `output` includes reasoning. */
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

/** The most that a request of so many bytes should cost: nothing of it cached, and an answer of full length. */
export function estimateUsd(model: string, bytes: number, maxOutputTokens: number): number {
  const input = tokensIn(bytes);
  return costOf(model, { input, cached: 0, cacheWrite: input, output: maxOutputTokens });
}

export function estimateEmbeddingUsd(model: string, texts: readonly string[]): number {
  return embeddingUsd(model, tokensIn(Buffer.byteLength(texts.join("\n"))));
}

/** Texts have about four bytes per token, code and other alphabets fewer; three is on the careful side. */
const bytesPerToken = 3;

export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}
