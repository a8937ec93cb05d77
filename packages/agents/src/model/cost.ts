import { catalog, type Price, priceOf } from "./catalog.ts";
import type { RequestUsage, Usage } from "./usage.ts";

export interface Cost {
  usd: number;
  /** False for a model that the catalog does not know; its cost counts as 0. */
  priceKnown: boolean;
}

const million = 1_000_000;

/**
 * What tokens cost, exact to a billionth of a dollar: (input - cached - written to the cache) x input + cached x cached
 * + written x write + output x output. Rule and prices: https://developers.openai.com/api/docs/pricing, as of the
 * catalog's date; above 272,000 tokens of input the provider charges more than this says.
 */
export function costOf(model: string, usage: Usage | RequestUsage): Cost {
  const price = priceOf(model);
  return price ? { usd: usdOf(price, usage), priceKnown: true } : { usd: 0, priceKnown: false };
}

function usdOf(price: Price, usage: Usage | RequestUsage): number {
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
